package policy

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// State is which policy is in force in a workspace, as its stream has it. The zero State is none. It is immutable.
type State struct {
	Digest  string    `json:"digest"`
	Text    string    `json:"text"`
	By      string    `json:"by"` // the principal that adopted it
	At      time.Time `json:"at"`
	Version int       `json:"version"` // number of the version in force, from 1
}

// Exists reports whether a policy is in force.
func (s State) Exists() bool { return s.Version > 0 }

// Event is an event of a workspace's policy. The set is sealed by [Events].
type Event interface{ EventName() string }

// Events holds one of each event, for codecs.
var Events = []Event{Adopted{}}

// Adopted brings a policy into force.
type Adopted struct {
	Digest string    `json:"digest"`
	Text   string    `json:"text"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
}

// EventName is "policy-adopted".
func (Adopted) EventName() string { return "policy-adopted" }

// Adopt asks for a policy to come into force. The use case checks that its targets exist.
type Adopt struct {
	By   string // the principal
	File string // its name in problems
	Text string
}

// Decide returns the events of a command on a workspace's policy at the time now: none if the same text is in force.
// Refusals: unauthenticated without a principal, invalid with the problems of the text.
func Decide(s State, c Adopt, now time.Time) ([]Event, error) {
	if c.By == "" {
		return nil, refusal.New(refusal.Unauthenticated, "send a token", "no credential")
	}
	digest := DigestOf([]byte(c.Text))
	if s.Digest == digest {
		return nil, nil
	}
	if _, problems := Parse(c.File, []byte(c.Text)); len(problems) > 0 {
		return nil, problems.Err()
	}
	return []Event{Adopted{Digest: digest, Text: c.Text, By: c.By, At: now.UTC()}}, nil
}

// Fold returns the state after an event. It never refuses; events of other packages change nothing.
func Fold(s State, e Event) State {
	if e, ok := e.(Adopted); ok {
		return State{Digest: e.Digest, Text: e.Text, By: e.By, At: e.At, Version: s.Version + 1}
	}
	return s
}
