package ruletest

import (
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Event is an event of any stream.
type Event interface{ EventName() string }

// Stream is one stream in a test: it decides commands and folds their events.
type Stream[S, C any, E Event] struct {
	testing.TB
	Decide func(S, C, time.Time) ([]E, error)
	Fold   func(S, E) S
	State  S
	Now    time.Time
}

// Do gives a command, which must yield exactly the events of these names.
func (s *Stream[S, C, E]) Do(c C, want ...string) []E {
	s.Helper()
	events, err := s.Decide(s.State, c, s.Now)
	if err != nil {
		s.Fatalf("%#v: %v", c, err)
	}
	var got []string
	for _, e := range events {
		got = append(got, e.EventName())
		s.State = s.Fold(s.State, e)
	}
	if !slices.Equal(got, want) {
		s.Fatalf("%#v: events %v, want %v", c, got, want)
	}
	return events
}

// Refused gives a command, which must be refused with the code and yield no events.
func (s *Stream[S, C, E]) Refused(c C, code refusal.Code) *refusal.Error {
	s.Helper()
	events, err := s.Decide(s.State, c, s.Now)
	if len(events) != 0 {
		s.Fatalf("%#v: events %v, want a refusal %s", c, events, code)
	}
	return Refused(s, err, code)
}

// Refused fails the test unless err is a refusal with the code, which has a hint.
func Refused(t testing.TB, err error, code refusal.Code) *refusal.Error {
	t.Helper()
	r, ok := refusal.As(err)
	if !ok || r.Code != code || r.Hint == "" {
		t.Fatalf("error %v, want a refusal %s with a hint", err, code)
	}
	return r
}
