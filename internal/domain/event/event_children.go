package event

import "time"

// NewChild is a child task as its parent records it before the child is created.
type NewChild struct {
	Task   string `json:"task"`
	Index  int    `json:"index"`
	To     string `json:"to,omitempty"`
	Intent string `json:"intent"`
	Budget Budget `json:"budget,omitzero"`
	Tasks  int    `json:"tasks,omitempty"` // the most descendants that it may have
}

// Spawned: a fan-out or a delegation. The children are created from this event; creating them again changes nothing.
type Spawned struct {
	Group       int        `json:"group"`
	Kind        Kind       `json:"kind"`
	From        string     `json:"from"`
	Reason      Reason     `json:"reason"`
	Detail      string     `json:"detail,omitempty"`
	Children    []NewChild `json:"children"`
	Passed      []Passed   `json:"passed_over,omitempty"`
	FanIn       FanIn      `json:"fan_in"`
	Timeouts    Timeouts   `json:"timeouts"`
	Retries     int        `json:"retries"`
	Permissions []string   `json:"permissions,omitzero"`
	Expected    Expected   `json:"expected,omitzero"`
	Envelope    string     `json:"envelope"`
	Pack        Pack       `json:"pack,omitzero"`     // how the children's envelopes are packed
	Channel     string     `json:"channel,omitempty"` // that the task was published to: each child is for one subscriber
	JoinBy      time.Time  `json:"join_by,omitzero"`
	Before      Standing   `json:"before"`
	At          time.Time  `json:"at"`
	NewWork     bool       `json:"new_work,omitempty"`
	Decision    *Decision  `json:"decision,omitempty"` // of routing, for a handoff to "auto"
}

// EventName implements [Event].
func (Spawned) EventName() string { return "children-spawned" }

// ChildEnded: a child task ended, or went to or came from the dead letters.
type ChildEnded struct {
	Child  string  `json:"child"`
	State  State   `json:"state"`
	Result *Result `json:"result,omitempty"`
	Spent  Budget  `json:"spent,omitzero"`
	Why    string  `json:"why,omitempty"`   // it failed, was cancelled or is in the dead letters
	Tasks  int     `json:"tasks,omitempty"` // descendants it has had; its parent may use the rest of its reservation again
	Late   bool    `json:"late,omitempty"`  // the parent does not wait for it: only recorded

	At time.Time `json:"at,omitzero"` // older records lack it
}

// EventName implements [Event].
func (ChildEnded) EventName() string { return "child-ended" }

// Joined: the parent has the results that it waited for, or cannot get them any more.
type Joined struct {
	Satisfied bool      `json:"satisfied"`
	Why       string    `json:"why"`
	Cancel    []string  `json:"cancel,omitempty"` // children that are no longer needed
	Lease     time.Time `json:"lease,omitzero"`
	Result    *Result   `json:"result,omitempty"` // of a parent without an owner
	At        time.Time `json:"at"`
}

// EventName implements [Event].
func (Joined) EventName() string { return "children-joined" }
