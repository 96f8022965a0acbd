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
	Left{},
	Sent{},
	Arriving{},
	Arrived{},
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

// Left ends changes in a workspace for good: it moves to another server.
type Left struct {
	By string    `json:"by"`
	To string    `json:"to"` // the address of that server
	At time.Time `json:"at"`
}

// Sent says what moves to the other server: the entries of the workspace up to a position, and those of its tokens.
type Sent struct {
	Name        string    `json:"name"`
	To          string    `json:"to"`
	Description string    `json:"description,omitempty"`
	Limits      Limits    `json:"limits,omitzero"`
	By          string    `json:"by"`      // the principal that made the workspace
	Created     time.Time `json:"created"` // the workspace
	Through     uint64    `json:"through"` // the position up to which the record was read
	Entries     int64     `json:"entries"`
	Root        string    `json:"root"` // of the tree whose leaves are these entries alone, in their order
	Files       int       `json:"files"`
	FilesRoot   string    `json:"files_root"` // of the tree whose leaves are the digests of the artifacts that move (SHA-256, hexadecimal), sorted
	// Base is added to positions of the next record, where the order of causes is told by them: no earlier position is above it.
	Base uint64 `json:"base"`
}

// Arriving begins the life of a workspace that moves here from another server: until it has arrived, nothing in it is read or changed.
type Arriving struct {
	Sent Sent      `json:"sent"`
	Log  string    `json:"log"` // the name of the log from which it comes
	At   time.Time `json:"at"`
}

// Arrived allows changes in a workspace that moved here.
type Arrived struct {
	First uint64    `json:"first"` // the position of its first entry
	Last  uint64    `json:"last"`  // and of its last one
	At    time.Time `json:"at"`
}

// EventName is "workspace-left".
func (Left) EventName() string { return "workspace-left" }

// EventName is "workspace-sent".
func (Sent) EventName() string { return "workspace-sent" }

// EventName is "workspace-arriving".
func (Arriving) EventName() string { return "workspace-arriving" }

// EventName is "workspace-arrived".
func (Arrived) EventName() string { return "workspace-arrived" }

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
	case Left:
		s.ArchivedBy, s.ArchivedAt, s.MovedTo = e.By, e.At, e.To
	case Sent:
		s.Sent = &e
	case Arriving:
		o := e.Sent
		return State{Name: o.Name, Description: o.Description, Limits: o.Limits, By: o.By, CreatedAt: o.Created, ArchivedAt: e.At, Base: o.Base, From: e.Log, Moves: o.Root}
	case Arrived:
		s.ArchivedAt, s.Arrived = time.Time{}, e.Last
	}
	return s
}
