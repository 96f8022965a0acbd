package agent

import "time"

// Event is an event of one agent. The set is sealed by [Events].
type Event interface{ EventName() string }

// Events holds one of each event, for codecs.
var Events = []Event{
	Registered{},
	Updated{},
	Removed{},
	ReadinessChanged{},
	PresenceLapsed{},
	PresenceReturned{},
	FailureCounted{},
	FailuresCleared{},
	CircuitOpened{},
	ProbeClaimed{},
	CircuitClosed{},
	CircuitReset{},
}

// Registered begins an agent. After a removal, it is another agent of the same name.
type Registered struct {
	Name string    `json:"name"`
	Spec Spec      `json:"spec"`
	At   time.Time `json:"at"`
	// Registration is the number of registrations of the name, with this one. Absent: the first, or a later one of a record in which the
	// agent went on as the one before.
	Registration int `json:"registration,omitempty"`
}

// Updated replaces an agent's spec.
type Updated struct {
	Spec Spec `json:"spec"`
}

// Removed ends an agent's life.
type Removed struct{}

// ReadinessChanged says whether the agent takes work from now on.
type ReadinessChanged struct {
	From Readiness `json:"from"` // what counted before
	To   Readiness `json:"to"`
	By   Author    `json:"by"`
}

// PresenceLapsed makes the agent offline because its heartbeats stopped.
type PresenceLapsed struct {
	LastHeard time.Time `json:"last_heard"`
}

// PresenceReturned ends the lapse.
type PresenceReturned struct {
	Readiness Readiness `json:"readiness"` // what counts again
}

// FailureCounted is one more failure in a row that did not open the circuit yet.
type FailureCounted struct {
	Cause    uint64  `json:"cause"`
	Outcome  Outcome `json:"outcome"`
	Task     string  `json:"task,omitempty"`
	Handoff  string  `json:"handoff,omitempty"`
	Failures int     `json:"failures"`         // in a row, with this one; of the sender's handoffs, if one is named
	Sender   string  `json:"sender,omitempty"` // the principal whose handoff it was; absent: it counts as anybody's
}

// FailuresCleared is a success after failures that had not opened the shared circuit, or the one of its sender.
type FailuresCleared struct {
	Cause   uint64 `json:"cause"`
	Task    string `json:"task,omitempty"`
	Handoff string `json:"handoff,omitempty"`
	Sender  string `json:"sender,omitempty"` // the principal whose handoff it was
	// Outcome is Accepted, after which leases that were lost go on counting, or Ended, which clears those alone, of all senders. Absent in
	// older records: all failures are cleared.
	Outcome Outcome `json:"outcome,omitempty"`
}

// CircuitOpened opens a circuit, the shared one or that of one sender: after too many failures in a row, or because the probe failed.
type CircuitOpened struct {
	Cause    uint64    `json:"cause"`
	Outcome  Outcome   `json:"outcome"`
	Task     string    `json:"task,omitempty"`
	Handoff  string    `json:"handoff,omitempty"`
	Failures int       `json:"failures"` // in a row, with this one
	At       time.Time `json:"at"`
	ResetAt  time.Time `json:"reset_at"`          // from then on one probe may try
	Sender   string    `json:"sender,omitempty"`  // the principal whose handoffs alone it stops; absent: everybody's
	Openers  []string  `json:"openers,omitempty"` // principals whose failures opened it, who may try a period later
}

// ProbeClaimed gives one handoff the right to try the half-open circuit.
type ProbeClaimed struct {
	Handoff string    `json:"handoff"`
	At      time.Time `json:"at"`
	Until   time.Time `json:"until"`            // a probe without an outcome by then gives way to another
	Sender  string    `json:"sender,omitempty"` // whose circuit it is; absent: the shared one
}

// CircuitClosed closes a circuit because the probe succeeded.
type CircuitClosed struct {
	Cause   uint64 `json:"cause"`
	Task    string `json:"task,omitempty"`
	Handoff string `json:"handoff"`
	Sender  string `json:"sender,omitempty"` // whose circuit it is; absent: the shared one
	// Outcome is Accepted, after which leases that were lost go on counting. Absent in older records: no failure counts any more.
	Outcome Outcome `json:"outcome,omitempty"`
	// Failures is the number with which it was open: it is on trial until the agent ends a task. Absent in older records: it is not.
	Failures int `json:"failures,omitempty"`
}

// CircuitReset closes the shared circuit, and those of all senders, for an operator.
type CircuitReset struct{}

// EventName is "agent-registered".
func (Registered) EventName() string { return "agent-registered" }

// EventName is "agent-updated".
func (Updated) EventName() string { return "agent-updated" }

// EventName is "agent-removed".
func (Removed) EventName() string { return "agent-removed" }

// EventName is "agent-readiness-changed".
func (ReadinessChanged) EventName() string { return "agent-readiness-changed" }

// EventName is "agent-presence-lapsed".
func (PresenceLapsed) EventName() string { return "agent-presence-lapsed" }

// EventName is "agent-presence-returned".
func (PresenceReturned) EventName() string { return "agent-presence-returned" }

// EventName is "circuit-failure-counted".
func (FailureCounted) EventName() string { return "circuit-failure-counted" }

// EventName is "circuit-failures-cleared".
func (FailuresCleared) EventName() string { return "circuit-failures-cleared" }

// EventName is "circuit-opened".
func (CircuitOpened) EventName() string { return "circuit-opened" }

// EventName is "circuit-probe-claimed".
func (ProbeClaimed) EventName() string { return "circuit-probe-claimed" }

// EventName is "circuit-closed".
func (CircuitClosed) EventName() string { return "circuit-closed" }

// EventName is "circuit-reset".
func (CircuitReset) EventName() string { return "circuit-reset" }
