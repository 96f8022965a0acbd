package argument

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// Duration is a duration such as "45s" or "2h". A number counts as seconds, because models write that.
type Duration client.Duration

// UnmarshalJSON accepts a text that [time.ParseDuration] accepts, or seconds.
func (d *Duration) UnmarshalJSON(b []byte) error {
	text := string(bytes.Trim(b, `"`))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if seconds < 0 || seconds > time.Duration(1<<63-1).Seconds() {
			return wrongDuration(text)
		}
		*d = Duration(seconds * float64(time.Second))
		return nil
	}
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

// Moment is a time, as text in RFC 3339 or as a duration from now.
type Moment struct {
	At      time.Time
	FromNow bool // At depends on when the call was read
}

// UnmarshalJSON accepts 2026-01-31T15:00:00Z, or a duration from now such as 2h.
func (m *Moment) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return wrongMoment(string(b))
	}
	if left, err := time.ParseDuration(text); err == nil && left > 0 {
		*m = Moment{time.Now().Add(left), true}
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

// wrongTime refuses, by its name, a duration or a time among the arguments that is none; nil if there is no such.
func wrongTime(b json.RawMessage, t reflect.Type) error {
	var given map[string]json.RawMessage
	_ = json.Unmarshal(b, &given) // what is no object has no such arguments
	for _, f := range reflect.VisibleFields(t) {
		value, there := given[fieldName(f)]
		if !there || f.Type != reflect.TypeFor[Duration]() && f.Type != reflect.TypeFor[Moment]() {
			continue
		}
		var wrong wrongTimeError
		if err := json.Unmarshal(value, reflect.New(f.Type).Interface()); errors.As(err, &wrong) {
			return Invalid("%s is %s", fieldName(f), wrong)
		}
	}
	return nil
}
