package client

import (
	"time"

	"github.com/trapezehq/trapeze/client/wire"
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

func (d Duration) String() string { return wire.Duration(time.Duration(d)) }
