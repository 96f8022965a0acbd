package task

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Ticket is what people are asked of a task: to approve its handoff, to answer its owner's question, or to take it over.
// A task has one at a time.
type Ticket struct {
	N         int                 `json:"n"`
	Kind      event.TicketKind    `json:"kind"`
	State     event.TicketState   `json:"state"`
	Desk      string              `json:"desk"`
	To        string              `json:"to,omitempty"`   // the one agent or person asked, until it goes on to another desk
	Then      string              `json:"then,omitempty"` // the desk that it goes on to; empty: to none
	Question  string              `json:"question,omitempty"`
	Options   []string            `json:"options,omitempty"`
	By        string              `json:"by"`                // who asks
	Handoff   int                 `json:"handoff,omitempty"` // that is to be approved, or that came to the desk
	Span      event.Duration      `json:"span"`              // how long each desk has
	Opened    time.Time           `json:"opened"`
	Due       time.Time           `json:"due"`
	Reminders int                 `json:"reminders,omitempty"` // of the present desk
	Level     int                 `json:"level,omitempty"`     // 1 once it has gone on
	ClaimedBy string              `json:"claimed_by,omitempty"`
	Claimed   time.Time           `json:"claimed_at,omitzero"`
	Kept      time.Time           `json:"kept_until,omitzero"` // reserved for the claimant until then; not of a takeover
	Outcome   event.TicketOutcome `json:"outcome,omitempty"`
	Answer    string              `json:"answer,omitempty"`
	Detail    string              `json:"detail,omitempty"`    // what was said at the end, beside an answer
	ClosedBy  string              `json:"closed_by,omitempty"` // of a person at the client of an agent: and that agent
	Closed    time.Time           `json:"closed,omitzero"`
}

// Answer is what people have told the task's owner.
type Answer struct {
	Ticket   int       `json:"ticket"`
	Question string    `json:"question"`
	Answer   string    `json:"answer"`
	Detail   string    `json:"detail,omitempty"` // what was said beside it, such as why
	By       string    `json:"by"`               // of a person at the client of an agent: and that agent
	At       time.Time `json:"at"`
}

// Said is an answer with what was said beside it; either may be empty.
func Said(answer, detail string) string {
	if answer == "" || detail == "" {
		return answer + detail
	}
	return answer + " — " + detail
}

// MaxAnswers bounds the answers that a task keeps: those since its newest envelope was sealed, which has the others.
const MaxAnswers = 16

// Remind is when people are next reminded: at half of their time, and at nine tenths. Zero: no more.
func (k *Ticket) Remind() time.Time {
	begun := k.Due.Add(-time.Duration(k.Span))
	switch {
	case k.State == event.TicketStateClosed || k.Due.IsZero():
		return time.Time{}
	case k.Reminders == 0:
		return begun.Add(time.Duration(k.Span) / 2)
	case k.Reminders == 1:
		return begun.Add(time.Duration(k.Span) / 10 * 9)
	}
	return time.Time{}
}

// OpenTicket is the ticket that is not closed, or nil.
func (t *Task) OpenTicket() *Ticket {
	if t.Ticket == nil || t.Ticket.State == event.TicketStateClosed {
		return nil
	}
	return t.Ticket
}

// AtDesk is the ticket that the task waits for, or nil: an answer, or somebody who takes it over.
func (t *Task) AtDesk() *Ticket {
	k := t.OpenTicket()
	if t.State != event.Waiting || k == nil || k.Kind == event.TicketApproval || k.Kind == event.TicketTakeover && k.State == event.TicketStateClaimed {
		return nil
	}
	return k
}

// InPerson is the ticket under which somebody has taken the task over and still owns it, or nil.
func (t *Task) InPerson() *Ticket {
	k := t.OpenTicket()
	if k == nil || k.Kind != event.TicketTakeover || k.State != event.TicketStateClaimed || k.ClaimedBy != t.Owner {
		return nil
	}
	return k
}
