package client

import (
	"strings"
	"time"
)

// Duration is a time.Duration that is written as text ("15s", "1h30m") in JSON.
type Duration time.Duration

// MarshalText writes the duration as String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads "15s", "1h30m" and the like.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// String writes the duration as Go does, without zeros at its end: 10m, 1h30m. All of Trapeze has this spelling.
func (d Duration) String() string {
	text := time.Duration(d).String()
	if whole, ok := strings.CutSuffix(text, "m0s"); ok {
		text = whole + "m"
	}
	if whole, ok := strings.CutSuffix(text, "h0m"); ok {
		text = whole + "h"
	}
	return text
}
