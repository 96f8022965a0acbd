package event

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// TicketKind is what a ticket asks of people.
type TicketKind string

// The kinds of ticket.
const (
	TicketApproval TicketKind = "approval" // approve or deny a supervised handoff
	TicketQuestion TicketKind = "question" // answer what the owner wants to know
	TicketTakeover TicketKind = "takeover" // take the task over: no other receiver was left
)

// TicketKinds lists every kind of ticket.
var TicketKinds = NewSet("a kind of ticket", TicketApproval, TicketQuestion, TicketTakeover)

func (k *TicketKind) UnmarshalText(b []byte) error { return TicketKinds.Decode(k, b) }

// TicketState is where a ticket is in its life.
type TicketState string

// The states of a ticket.
const (
	TicketStateOpen    TicketState = "open"
	TicketStateClaimed TicketState = "claimed" // by a person or agent of its desk
	TicketStateClosed  TicketState = "closed"
)

// TicketStates lists every state of a ticket.
var TicketStates = NewSet("a state of a ticket", TicketStateOpen, TicketStateClaimed, TicketStateClosed)

func (s *TicketState) UnmarshalText(b []byte) error { return TicketStates.Decode(s, b) }

// TicketOutcome is how a ticket ended.
type TicketOutcome string

// The outcomes of a ticket.
const (
	TicketApproved   TicketOutcome = "approved"
	TicketDenied     TicketOutcome = "denied"     // the handoff does not go on, the question has no answer, or nobody takes the task
	TicketAnswered   TicketOutcome = "answered"   // with the answer
	TicketResolved   TicketOutcome = "resolved"   // the person that took the task over ended it or handed it off
	TicketUnanswered TicketOutcome = "unanswered" // nobody closed it in time
	TicketWithdrawn  TicketOutcome = "withdrawn"  // the task went another way
)

// TicketOutcomes lists every outcome of a ticket.
var TicketOutcomes = NewSet("an outcome of a ticket",
	TicketApproved, TicketDenied, TicketAnswered, TicketResolved, TicketUnanswered, TicketWithdrawn,
)

func (o *TicketOutcome) UnmarshalText(b []byte) error { return TicketOutcomes.Decode(o, b) }

// DeskOperators is the desk that every server has. Every operator serves it.
const DeskOperators = "operators"

// The limits of questions and answers, in bytes unless said otherwise.
const (
	MaxQuestion = 4 << 10
	MaxOptions  = 16 // per question
	MaxOption   = 200
	MaxAnswer   = MaxText
)

// CheckQuestion refuses a question that is empty or too long, and options that are too many, too long, empty or repeated.
func CheckQuestion(question string, options []string) error {
	if strings.TrimSpace(question) == "" {
		return refusal.New(refusal.Invalid, "write the question", "the question is empty").With("field", "question")
	}
	if err := CheckText("the question", question, MaxQuestion); err != nil {
		return refusal.In("question", err)
	}
	if err := checkCount("options", len(options), MaxOptions, "name those that matter most"); err != nil {
		return refusal.In("options", err)
	}
	for i, o := range options {
		if strings.TrimSpace(o) == "" {
			return refusal.New(refusal.Invalid, "omit it", "an option is empty").With("field", "options")
		}
		if err := CheckText("an option", o, MaxOption); err != nil {
			return refusal.In("options", err)
		}
		if slices.Contains(options[:i], o) {
			return refusal.New(refusal.Invalid, "name each once", "%q is an option twice", o).With("field", "options")
		}
	}
	return nil
}

// CheckAnswer refuses an answer that is empty, too long, or not among the options if there are any.
func CheckAnswer(answer string, options []string) error {
	if strings.TrimSpace(answer) == "" {
		return refusal.New(refusal.Invalid, "write an answer, or deny the ticket if there is none", "the answer is empty")
	}
	if err := CheckText("the answer", answer, MaxAnswer); err != nil {
		return err
	}
	if len(options) > 0 && !slices.Contains(options, answer) {
		return refusal.New(refusal.Invalid, "answer "+shellword.Or(options), "%.80q is not among the options", answer)
	}
	return nil
}
