package event

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// The limits of a duration in a request.
const (
	MinDuration = 10 * time.Millisecond
	MaxDuration = 90 * 24 * time.Hour
)

// Duration is a time.Duration that is written as text ("15s", "1h30m") in JSON.
type Duration time.Duration

// MarshalText writes the duration as String does. Older entries have "10m0s" for "10m".
func (d Duration) MarshalText() ([]byte, error) { return d.AppendText(nil) }

// UnmarshalText reads "15s", "1h30m" and the like.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return refusal.New(refusal.Invalid, `write durations like "15s" or "1h30m"`, "%q is not a duration", b)
	}
	*d = Duration(v)
	return nil
}

// AppendText appends the duration as Go writes it, without zeros at its end: 10m, 1h30m. The public client has the same spelling.
func (d Duration) AppendText(b []byte) ([]byte, error) {
	text := time.Duration(d).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return append(b, text...), nil
}

// String is the text of AppendText.
func (d Duration) String() string { b, _ := d.AppendText(nil); return string(b) }

// Or is d, or def if d is zero.
func (d Duration) Or(def time.Duration) Duration {
	if d == 0 {
		return Duration(def)
	}
	return d
}

// After is the time d after t.
func (d Duration) After(t time.Time) time.Time { return t.Add(time.Duration(d)) }

// inRange reports whether a duration is allowed, or not given.
func (d Duration) inRange() bool {
	return d == 0 || (time.Duration(d) >= MinDuration && time.Duration(d) <= MaxDuration)
}

// Check refuses (invalid) a duration outside MinDuration and MaxDuration. Zero means "not given" and passes.
func (d Duration) Check(what string) error {
	if d.inRange() {
		return nil
	}
	return refusal.New(refusal.Invalid, "use a duration from "+Duration(MinDuration).String()+" to "+Duration(MaxDuration).String(),
		"%s of %s is out of range", what, d)
}
