package task

import (
	"slices"
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
	Kept      time.Time           `json:"kept_until,omitzero"` // for whoever claimed it, where it is no takeover
	Outcome   event.TicketOutcome `json:"outcome,omitempty"`
	Answer    string              `json:"answer,omitempty"`
	Detail    string              `json:"detail,omitempty"` // what was said at the end, beside an answer
	ClosedBy  string              `json:"closed_by,omitempty"`
	Closed    time.Time           `json:"closed,omitzero"`
}

// Answer is what people have told the task's owner.
type Answer struct {
	Ticket   int       `json:"ticket"`
	Question string    `json:"question"`
	Answer   string    `json:"answer"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
}

// MaxAnswers bounds the answers that a task keeps: those since its newest envelope was sealed, which has the others.
const MaxAnswers = 16

// Remind is when people are next reminded: at half of their time, and at nine tenths. Zero: no more.
func (k *Ticket) Remind() time.Time {
	begun := k.Due.Add(-time.Duration(k.Span))
	switch {
	case k.State == event.TicketOver || k.Due.IsZero():
		return time.Time{}
	case k.Reminders == 0:
		return begun.Add(time.Duration(k.Span) / 2)
	case k.Reminders == 1:
		return begun.Add(time.Duration(k.Span) / 10 * 9)
	}
	return time.Time{}
}

// OpenTicket is the ticket that is not closed, or nil.
func (t Task) OpenTicket() *Ticket {
	if t.Ticket == nil || t.Ticket.State == event.TicketOver {
		return nil
	}
	return t.Ticket
}

// AtDesk is the ticket that the task waits for, or nil: an answer, or somebody who takes it over.
func (t Task) AtDesk() *Ticket {
	k := t.OpenTicket()
	if t.State != event.Waiting || k == nil || k.Kind == event.TicketApproval || k.Kind == event.TicketTakeover && k.State == event.TicketTaken {
		return nil
	}
	return k
}

// InPerson is the ticket under which somebody has taken the task over and still owns it, or nil.
func (t Task) InPerson() *Ticket {
	k := t.OpenTicket()
	if k == nil || k.Kind != event.TicketTakeover || k.State != event.TicketTaken || k.ClaimedBy != t.Owner {
		return nil
	}
	return k
}

// takeTicket is take for the events of tickets.
func (t *Task) takeTicket(e event.Event) bool {
	switch e := e.(type) {
	case event.TicketOpened:
		t.onTicketOpened(e)
	case event.TicketClaimed:
		t.onTicketClaimed(e)
	case event.TicketReleased:
		t.onTicketReleased(e)
	case event.TicketReminded:
		t.onTicket(func(k *Ticket) { k.Reminders = e.Reminder })
	case event.TicketEscalated:
		t.onTicketEscalated(e)
	case event.TicketClosed:
		t.onTicketClosed(e)
	default:
		return false
	}
	return true
}

// onTicket changes the open ticket, if there is one.
func (t *Task) onTicket(change func(*Ticket)) {
	if k := t.OpenTicket(); k != nil {
		changed := *k
		change(&changed)
		t.Ticket = &changed
	}
}

// nextTicket is the number that the next ticket gets.
func (t *Task) nextTicket() int {
	if t.Ticket == nil {
		return 1
	}
	return t.Ticket.N + 1
}

func (t *Task) onTicketOpened(e event.TicketOpened) {
	t.closeTicket(event.TicketResolved, t.Owner, "", e.At) // of a person who has handed it on to a desk
	t.involve(e.To)
	t.Ticket = &Ticket{
		N: e.Ticket, Kind: e.Kind, State: event.TicketFree, Desk: e.Desk, To: e.To, Then: e.Then, Question: e.Question, Options: e.Options,
		By: e.By, Handoff: e.Handoff, Span: e.Span, Opened: e.At, Due: e.Due,
	}
	if h := t.InFlight(); h != nil {
		for _, c := range h.Candidates {
			if c.IsDesk() && c.Desk == e.Desk {
				t.reach(c.Level)
			}
		}
	}
	t.run(time.Time{})
	t.close("it came to the desk "+e.Desk, e.At)
}

// approvalTicket opens the ticket of a supervised handoff.
func (t *Task) approvalTicket(e event.ApprovalAsked) {
	h := t.Handoff
	if h == nil {
		return
	}
	k := &Ticket{
		N: t.nextTicket(), Kind: event.TicketApproval, State: event.TicketFree, Desk: event.DeskOperators, To: e.Approver, Question: h.Detail,
		By: h.From, Handoff: h.N, Span: event.Duration(e.Ends.Sub(h.Requested)), Opened: h.Requested, Due: e.Ends,
	}
	if e.Approver != "" { // operators may approve in any case, and are asked when the approver does not answer
		k.Then = event.DeskOperators
	}
	t.Ticket = k
}

func (t *Task) onTicketClaimed(e event.TicketClaimed) {
	t.involve(agentName(e.By))
	t.onTicket(func(k *Ticket) {
		k.State, k.ClaimedBy, k.Claimed, k.Kept = event.TicketTaken, e.By, e.At, e.Ends
		if !e.Due.IsZero() {
			k.Due, k.Reminders = e.Due, 0
		}
	})
	if k := t.OpenTicket(); k != nil && k.Kind == event.TicketTakeover {
		t.Marks++ // a person's decision
	}
}

// agentName is the name of an agent; none of another principal, which has a slash.
func agentName(who string) string {
	if slices.Contains([]byte(who), '/') {
		return ""
	}
	return who
}

func (t *Task) onTicketReleased(e event.TicketReleased) {
	t.onTicket(func(k *Ticket) {
		k.State, k.ClaimedBy, k.Claimed, k.Kept = event.TicketFree, "", time.Time{}, time.Time{}
		if !k.Due.Equal(e.Due) {
			k.Due, k.Reminders = e.Due, 0
		}
	})
	t.backToDesk()
}

func (t *Task) onTicketEscalated(e event.TicketEscalated) {
	t.onTicket(func(k *Ticket) {
		k.State, k.ClaimedBy, k.Claimed, k.Kept = event.TicketFree, "", time.Time{}, time.Time{}
		k.Desk, k.To, k.Then, k.Level, k.Due, k.Reminders = e.Desk, "", "", e.Level, e.Due, 0
		if k.Kind == event.TicketApproval && t.InFlight() != nil {
			t.touch().ApprovalEnds = e.Due
		}
	})
	t.backToDesk()
}

// backToDesk stops the lease of a person whose task waits for somebody else.
func (t *Task) backToDesk() {
	if t.State == event.Executing {
		t.run(time.Time{})
	}
}

func (t *Task) onTicketClosed(e event.TicketClosed) {
	if k := t.OpenTicket(); k != nil && e.Outcome == event.TicketAnswered {
		a := Answer{Ticket: k.N, Question: k.Question, Answer: e.Answer, By: e.By, At: e.At}
		t.Answers = append(slices.Clip(t.Answers), a)
		t.Answers = t.Answers[max(len(t.Answers)-MaxAnswers, 0):]
		t.Marks++ // an answer is a decision
	}
	t.closeTicket(e.Outcome, e.By, e.Detail, e.At)
	if k := t.Ticket; k != nil && k.N == e.Ticket {
		told := *k
		told.Answer = e.Answer
		t.Ticket = &told
	}
	t.run(e.Lease)
	t.State = event.Pending
	if t.Owner != "" {
		t.State, t.Resumed = event.Executing, e.Outcome != event.TicketWithdrawn // who took it back knows
	}
}

// closeTicket notes how the open ticket ended, if there is one.
func (t *Task) closeTicket(outcome event.TicketOutcome, by, detail string, at time.Time) {
	t.onTicket(func(k *Ticket) {
		k.State, k.Outcome, k.ClosedBy, k.Detail, k.Closed, k.Kept = event.TicketOver, outcome, by, detail, at, time.Time{}
	})
}

// dropTicket closes the open ticket because the task goes another way: withdrawn, or unanswered once its time is over.
func (t *Task) dropTicket(at time.Time) {
	if k := t.OpenTicket(); k != nil {
		outcome := event.TicketWithdrawn
		if !at.Before(k.Due) {
			outcome = event.TicketUnanswered
		}
		t.closeTicket(outcome, "", "", at)
	}
}
