package event

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// DeskOperators is the desk that is always there. Every operator serves it.
const DeskOperators = "operators"

// Bounds of what people are asked, in bytes unless said otherwise.
const (
	MaxQuestion = 4 << 10
	MaxOptions  = 16 // per question
	MaxOption   = 200
	MaxAnswer   = MaxText
)

// TicketKind is what a ticket asks of people.
type TicketKind string

// The kinds of ticket.
const (
	TicketApproval TicketKind = "approval" // approve or deny a supervised handoff
	TicketQuestion TicketKind = "question" // answer what the owner wants to know
	TicketTakeover TicketKind = "takeover" // take the task over: nobody else was left
)

var ticketKinds = []TicketKind{TicketApproval, TicketQuestion, TicketTakeover}

// TicketKinds lists every kind of ticket.
func TicketKinds() []TicketKind { return slices.Clone(ticketKinds) }

// UnmarshalText refuses unknown kinds.
func (k *TicketKind) UnmarshalText(b []byte) error { return parse(k, "kind of ticket", b, ticketKinds) }

// TicketState is where a ticket is in its life.
type TicketState string

// The states of a ticket.
const (
	TicketFree  TicketState = "open"
	TicketTaken TicketState = "claimed" // somebody sees to it
	TicketOver  TicketState = "closed"
)

var ticketStates = []TicketState{TicketFree, TicketTaken, TicketOver}

// TicketStates lists every state of a ticket.
func TicketStates() []TicketState { return slices.Clone(ticketStates) }

// UnmarshalText refuses unknown states.
func (s *TicketState) UnmarshalText(b []byte) error {
	return parse(s, "state of a ticket", b, ticketStates)
}

// TicketOutcome is how a ticket ended.
type TicketOutcome string

// The outcomes of a ticket.
const (
	TicketApproved   TicketOutcome = "approved"
	TicketDenied     TicketOutcome = "denied"     // the handoff may not go on, there is no answer, or nobody takes the task
	TicketAnswered   TicketOutcome = "answered"   // with the answer
	TicketResolved   TicketOutcome = "resolved"   // whoever took the task over ended it or handed it on
	TicketUnanswered TicketOutcome = "unanswered" // nobody saw to it in time
	TicketWithdrawn  TicketOutcome = "withdrawn"  // the task went another way
)

var ticketOutcomes = []TicketOutcome{TicketApproved, TicketDenied, TicketAnswered, TicketResolved, TicketUnanswered, TicketWithdrawn}

// TicketOutcomes lists every outcome of a ticket.
func TicketOutcomes() []TicketOutcome { return slices.Clone(ticketOutcomes) }

// UnmarshalText refuses unknown outcomes.
func (o *TicketOutcome) UnmarshalText(b []byte) error {
	return parse(o, "outcome of a ticket", b, ticketOutcomes)
}

// TicketOpened: people are asked something, or to take the task over. The ticket of an approval is opened by
// ApprovalAsked, and closed by what follows from it.
type TicketOpened struct {
	Ticket   int        `json:"ticket"`
	Kind     TicketKind `json:"kind"`
	Desk     string     `json:"desk"`
	To       string     `json:"to,omitempty"`   // an agent or a person of the desk, by its agent's name
	Then     string     `json:"then,omitempty"` // the desk that it goes on to, once
	Question string     `json:"question"`
	Options  []string   `json:"options,omitempty"`
	Handoff  int        `json:"handoff,omitempty"` // that came to the desk and ended there
	By       string     `json:"by"`                // who stands behind the task
	Passed   []Passed   `json:"passed_over,omitempty"`
	Span     Duration   `json:"span"` // how long each desk has
	Due      time.Time  `json:"due"`
	After    Standing   `json:"after,omitzero"` // of a handoff that ended at the desk
	At       time.Time  `json:"at"`
}

// TicketClaimed: somebody sees to it. A takeover's ticket is followed by the transfer.
type TicketClaimed struct {
	Ticket int       `json:"ticket"`
	By     string    `json:"by"`
	Ends   time.Time `json:"ends,omitzero"` // until when it is kept for them, where it is no takeover
	Due    time.Time `json:"due,omitzero"`  // of a takeover: until when they have the task
	At     time.Time `json:"at"`
}

// TicketReleased: it is back on its desk. The task of a takeover waits again, and stays theirs until somebody else has it.
type TicketReleased struct {
	Ticket int       `json:"ticket"`
	By     string    `json:"by"`
	Detail string    `json:"detail,omitempty"`
	Due    time.Time `json:"due"`
}

// TicketReminded: nobody has seen to it yet.
type TicketReminded struct {
	Ticket   int       `json:"ticket"`
	Reminder int       `json:"reminder"` // 1 at half of the desk's time, 2 at nine tenths
	Due      time.Time `json:"due"`
	At       time.Time `json:"at"`
}

// TicketEscalated: nobody saw to it in time, and it goes on to another desk.
type TicketEscalated struct {
	Ticket int       `json:"ticket"`
	Desk   string    `json:"desk"`
	Level  int       `json:"level"` // 1 after the first desk
	Why    string    `json:"why"`
	Due    time.Time `json:"due"`
	At     time.Time `json:"at"`
}

// TicketClosed: a question or a takeover is settled and the task's owner, if it has one, goes on. Where the task ended,
// was parked or moved on, the event that says so closes its ticket as well.
type TicketClosed struct {
	Ticket  int           `json:"ticket"`
	Outcome TicketOutcome `json:"outcome"`
	By      string        `json:"by,omitempty"`
	Answer  string        `json:"answer,omitempty"`
	Detail  string        `json:"detail,omitempty"`
	Lease   time.Time     `json:"lease,omitzero"`
	At      time.Time     `json:"at"`
}

// CheckQuestion refuses what people cannot be asked: nothing, too much, or options that are none.
func CheckQuestion(question string, options []string) error {
	if strings.TrimSpace(question) == "" {
		return refusal.New(refusal.Invalid, "say what you want to know", "a question needs words")
	}
	if err := CheckText("the question", question, MaxQuestion); err != nil {
		return err
	}
	if len(options) > MaxOptions {
		return TooMany("options", len(options), MaxOptions)
	}
	for i, o := range options {
		if strings.TrimSpace(o) == "" {
			return refusal.New(refusal.Invalid, "leave it out", "an option is empty")
		}
		if err := CheckText("an option", o, MaxOption); err != nil {
			return err
		}
		if slices.Contains(options[:i], o) {
			return refusal.New(refusal.Invalid, "name each once", "%q is an option twice", o)
		}
	}
	return nil
}

// CheckAnswer refuses an answer that is none: empty, too long, or not among the options, where there are any.
func CheckAnswer(answer string, options []string) error {
	if strings.TrimSpace(answer) == "" {
		return refusal.New(refusal.Invalid, "say it in words, or deny the ticket if there is no answer", "an answer needs words")
	}
	if err := CheckText("the answer", answer, MaxAnswer); err != nil {
		return err
	}
	if len(options) > 0 && !slices.Contains(options, answer) {
		return refusal.New(refusal.Invalid, "answer "+strings.Join(options, ", or "), "%.80q is not among the options", answer)
	}
	return nil
}

// TicketID names the n-th ticket of a task.
func TicketID(task string, n int) string { return fmt.Sprintf("%s.k%d", task, n) }

// ParseTicketID splits a ticket's id into its task and its number.
func ParseTicketID(id string) (task string, n int, err error) {
	return parseSubID(id, 'k', "a ticket id", "a ticket id looks like task_….k1")
}
