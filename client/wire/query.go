package wire

import (
	"net/url"
	"strconv"
	"time"
)

// Query is the parameters of a call, without the ones that say nothing.
type Query url.Values

// Texts adds parameters, as names and values in turn, each as [Query.Text] does.
func (q Query) Texts(pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Text(pairs[i], pairs[i+1])
	}
}

// Text adds a text.
func (q Query) Text(name, v string) {
	if v != "" {
		url.Values(q).Set(name, v)
	}
}

// Number adds a number.
func (q Query) Number(name string, n int) { q.Text(name, when(n != 0, strconv.Itoa(n))) }

// Position adds a position in the record.
func (q Query) Position(name string, p uint64) {
	q.Text(name, when(p != 0, strconv.FormatUint(p, 10)))
}

// Wait is the time of the parameter wait, which the server is asked to wait; 0 without one.
func (q Query) Wait() time.Duration {
	text := url.Values(q).Get("wait")
	if text == "" {
		return 0
	}
	d, _ := time.ParseDuration(text) // a malformed one is the server's to refuse
	return max(d, 0)
}

// Flag adds what is either said or not.
func (q Query) Flag(name string, on bool) { q.Text(name, when(on, "true")) }

// Flags adds several.
func (q Query) Flags(flags map[string]bool) {
	for name, on := range flags {
		q.Flag(name, on)
	}
}

// Time adds a time.
func (q Query) Time(name string, t time.Time) {
	q.Text(name, when(!t.IsZero(), t.UTC().Format(time.RFC3339Nano)))
}

// Times adds two times.
func (q Query) Times(first string, a time.Time, second string, b time.Time) {
	q.Time(first, a)
	q.Time(second, b)
}

func when(says bool, v string) string {
	if says {
		return v
	}
	return ""
}
