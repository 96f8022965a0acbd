package event

import "time"

// TicketOpened: people are asked a question, or to take the task over. The ticket of an approval is opened by ApprovalAsked, and
// closed by Approved, Denied or the end of the handoff.
type TicketOpened struct {
	Ticket   int        `json:"ticket"`
	Kind     TicketKind `json:"kind"`
	Desk     string     `json:"desk"`
	To       string     `json:"to,omitempty"`   // an agent or a person of the desk, by agent name
	Then     string     `json:"then,omitempty"` // the desk that it is escalated to
	Question string     `json:"question"`
	Options  []string   `json:"options,omitempty"`
	Handoff  int        `json:"handoff,omitempty"` // the handoff that ended at the desk
	By       string     `json:"by"`                // the principal behind the task
	Passed   []Passed   `json:"passed_over,omitempty"`
	Span     Duration   `json:"span"` // how long each desk has
	Due      time.Time  `json:"due"`
	After    Standing   `json:"after,omitzero"` // of a handoff that ended at the desk
	At       time.Time  `json:"at"`
}

// EventName implements [Event].
func (TicketOpened) EventName() string { return "ticket-opened" }

// TicketClaimed: a person or agent took the ticket on. For a takeover, the transfer follows.
type TicketClaimed struct {
	Ticket int       `json:"ticket"`
	By     string    `json:"by"`
	Ends   time.Time `json:"ends,omitzero"` // until when it is kept for the claimant; not of a takeover
	Due    time.Time `json:"due,omitzero"`  // of a takeover: when the claimant must be done
	At     time.Time `json:"at"`
}

// EventName implements [Event].
func (TicketClaimed) EventName() string { return "ticket-claimed" }

// TicketReleased: the ticket is back at its desk. The task of a takeover waits, and keeps its owner until another claims it.
type TicketReleased struct {
	Ticket int       `json:"ticket"`
	By     string    `json:"by"`
	Detail string    `json:"detail,omitempty"`
	Due    time.Time `json:"due"`
}

// EventName implements [Event].
func (TicketReleased) EventName() string { return "ticket-released" }

// TicketReminded: the ticket is still open, and its desk was reminded.
type TicketReminded struct {
	Ticket   int       `json:"ticket"`
	Reminder int       `json:"reminder"` // 1 at half of the desk's time, 2 at nine tenths
	Due      time.Time `json:"due"`
	At       time.Time `json:"at"`
}

// EventName implements [Event].
func (TicketReminded) EventName() string { return "ticket-reminded" }

// TicketEscalated: the ticket was not closed in time, and goes to another desk.
type TicketEscalated struct {
	Ticket int       `json:"ticket"`
	Desk   string    `json:"desk"`
	Level  int       `json:"level"` // 1 after the first desk
	Why    string    `json:"why"`
	Due    time.Time `json:"due"`
	At     time.Time `json:"at"`
}

// EventName implements [Event].
func (TicketEscalated) EventName() string { return "ticket-escalated" }

// TicketClosed: a question or a takeover is settled; the task's owner, if it has one, goes on. The events that end, park or move a task close its ticket too.
type TicketClosed struct {
	Ticket  int           `json:"ticket"`
	Outcome TicketOutcome `json:"outcome"`
	By      string        `json:"by,omitempty"`
	Through string        `json:"through,omitempty"` // the agent that brought the word of By, a person at its client
	Answer  string        `json:"answer,omitempty"`
	Detail  string        `json:"detail,omitempty"`
	Lease   time.Time     `json:"lease,omitzero"`
	// TakeUpBy is when the requester of a task that nobody owns must have taken it up. Records from before requesters had a time for it
	// lack it, and no clock runs.
	TakeUpBy time.Time `json:"take_up_by,omitzero"`
	// Tell reports that the task was taken back by another principal than its source, which is told.
	Tell bool      `json:"tell,omitempty"`
	At   time.Time `json:"at"`
}

// EventName implements [Event].
func (TicketClosed) EventName() string { return "ticket-closed" }
