package workspace

import "time"

// Event is an event of one workspace. The set is sealed by [Events].
type Event interface{ EventName() string }

// Events holds one of each event, for codecs.
var Events = []Event{
	Created{},
	Limited{},
	Archived{},
	Restored{},
}

// Created begins the life of a workspace.
type Created struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Limits      Limits    `json:"limits,omitzero"`
	By          string    `json:"by"` // the principal that made it
	At          time.Time `json:"at"`
}

// Limited replaces all limits of a workspace.
type Limited struct {
	Name   string `json:"name"`
	Limits Limits `json:"limits"`
}

// Archived ends changes in a workspace. What is in it stays readable.
type Archived struct {
	By  string    `json:"by"`
	Why string    `json:"why"`
	At  time.Time `json:"at"`
}

// Restored allows changes again.
type Restored struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// EventName is "workspace-created".
func (Created) EventName() string { return "workspace-created" }

// EventName is "workspace-limited".
func (Limited) EventName() string { return "workspace-limited" }

// EventName is "workspace-archived".
func (Archived) EventName() string { return "workspace-archived" }

// EventName is "workspace-restored".
func (Restored) EventName() string { return "workspace-restored" }

// Fold returns the state after an event. It never refuses; events of other packages change nothing.
func Fold(s State, e Event) State {
	switch e := e.(type) {
	case Created:
		return State{Name: e.Name, Description: e.Description, Limits: e.Limits, By: e.By, CreatedAt: e.At}
	case Limited:
		s.Name, s.Limits = e.Name, e.Limits
	case Archived:
		s.ArchivedBy, s.ArchivedAt, s.Why = e.By, e.At, e.Why
	case Restored:
		s.ArchivedBy, s.ArchivedAt, s.Why = "", time.Time{}, ""
	}
	return s
}
