package erasure

import "time"

// Event is an event of the erasures and holds of a workspace. The set is sealed by [Events].
type Event interface{ EventName() string }

// Events holds one of each event, for codecs.
var Events = []Event{
	HoldSet{},
	HoldLifted{},
	Erased{},
	Finished{},
}

// HoldSet begins a legal hold.
type HoldSet struct {
	Subject string    `json:"subject"`
	Why     string    `json:"why"`
	By      string    `json:"by"` // the principal
	At      time.Time `json:"at"`
}

// HoldLifted ends it.
type HoldLifted struct {
	Subject string    `json:"subject"`
	Why     string    `json:"why"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// Erased says what is erased: from now on the content of the streams, as far as it is sealed, cannot be read.
type Erased struct {
	N       int       `json:"n"` // from 1
	Subject string    `json:"subject"`
	Why     string    `json:"why"`
	Streams []string  `json:"streams"`
	Files   []string  `json:"files,omitempty"` // digests of artifacts that the tasks referred to
	Left    int       `json:"left,omitempty"`  // entries with content from before the directory was erasable, which stay
	Kept    []string  `json:"kept,omitempty"`  // what else has content of the subject, and is not erased with it
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// Finished says that nothing of it is left in the files.
type Finished struct {
	N     int       `json:"n"`
	Keys  int       `json:"keys"`            // that were destroyed
	Files int       `json:"files,omitempty"` // artifacts that were deleted, as nothing else refers to them
	At    time.Time `json:"at"`
}

// EventName is "hold-set".
func (HoldSet) EventName() string { return "hold-set" }

// EventName is "hold-lifted".
func (HoldLifted) EventName() string { return "hold-lifted" }

// EventName is "subject-erased".
func (Erased) EventName() string { return "subject-erased" }

// EventName is "erasure-finished".
func (Finished) EventName() string { return "erasure-finished" }
