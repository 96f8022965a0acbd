package argument

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// Duration is a duration such as "45s" or "2h", with a unit, as on the command line.
type Duration client.Duration

// UnmarshalJSON accepts a text that [time.ParseDuration] accepts.
func (d *Duration) UnmarshalJSON(b []byte) error {
	text := string(bytes.Trim(b, `"`))
	v, err := time.ParseDuration(text)
	if err != nil || v < 0 {
		return wrongDuration(text)
	}
	*d = Duration(v)
	return nil
}

func wrongDuration(text string) error {
	return wrongTimeError(fmt.Sprintf("%.40q; write it as 45s, 10m or 2h", text))
}

// Moment is a time, as text in RFC 3339 or as a duration from now; in a field with the tag `when:"past"`, before now.
type Moment struct {
	At      time.Time
	FromNow bool // At depends on when the call was read

	left time.Duration // until At, which is not set yet
}

// UnmarshalJSON accepts 2026-01-31T15:00:00Z, or a duration from now such as 2h. [Decode] sets the time of the latter.
func (m *Moment) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return wrongMoment(string(b))
	}
	if left, err := time.ParseDuration(text); err == nil && left > 0 {
		*m = Moment{FromNow: true, left: left}
		return nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return wrongMoment(text)
	}
	*m = Moment{At: at}
	return nil
}

func wrongMoment(text string) error {
	return wrongTimeError(fmt.Sprintf("%.40q; write it as 2026-01-31T15:00:00Z, or as a time from now: 2h", text))
}

// wrongTimeError is a value that is no duration or no time, and how to write one.
type wrongTimeError string

func (e wrongTimeError) Error() string { return string(e) }

// settle sets the times of the moments that were given as durations. It asks for the time only if there are such.
func settle(v reflect.Value, now func() (time.Time, error)) error {
	var at time.Time
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Type != reflect.TypeFor[Moment]() {
			continue
		}
		m, ok := v.FieldByIndex(f.Index).Addr().Interface().(*Moment)
		if !ok || m.left == 0 {
			continue
		}
		if at.IsZero() {
			var err error
			if at, err = now(); err != nil {
				return err
			}
		}
		if f.Tag.Get("when") == "past" {
			m.left = -m.left
		}
		m.At = at.Add(m.left)
	}
	return nil
}
