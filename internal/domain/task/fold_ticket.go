package task

import (
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task/passage"
)

// foldTicket folds an event of a ticket, and reports whether it was one.
func (t *Task) foldTicket(e event.Event) bool {
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
		N: e.Ticket, Kind: e.Kind, State: event.TicketStateOpen, Desk: e.Desk, To: e.To, Then: e.Then, Question: e.Question, Options: e.Options,
		By: e.By, Handoff: e.Handoff, Span: e.Span, Opened: e.At, Due: e.Due,
	}
	if h := t.InFlight(); h != nil {
		for _, c := range h.Candidates {
			if c.IsDesk() && c.Desk == e.Desk {
				t.reachLevel(c.Level)
			}
		}
	}
	t.runClocks(time.Time{})
	t.closeHandoff("it came to the desk "+e.Desk, e.At)
}

// approvalTicket opens the ticket of a supervised handoff.
func (t *Task) approvalTicket(e event.ApprovalAsked) {
	h := t.Handoff
	if h == nil {
		return
	}
	k := &Ticket{
		N: t.nextTicket(), Kind: event.TicketApproval, State: event.TicketStateOpen, Desk: event.DeskOperators, To: e.Approver, Question: h.Detail,
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
		k.State, k.ClaimedBy, k.Claimed, k.Kept = event.TicketStateClaimed, e.By, e.At, e.Ends
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
		k.State, k.ClaimedBy, k.Claimed, k.Kept = event.TicketStateOpen, "", time.Time{}, time.Time{}
		if !k.Due.Equal(e.Due) {
			k.Due, k.Reminders = e.Due, 0
		}
	})
	t.backToDesk()
}

func (t *Task) onTicketEscalated(e event.TicketEscalated) {
	t.onTicket(func(k *Ticket) {
		k.State, k.ClaimedBy, k.Claimed, k.Kept = event.TicketStateOpen, "", time.Time{}, time.Time{}
		k.Desk, k.To, k.Then, k.Level, k.Due, k.Reminders = e.Desk, "", "", e.Level, e.Due, 0
		if k.Kind == event.TicketApproval && t.InFlight() != nil {
			t.ownHandoff().ApprovalEnds = e.Due
		}
	})
	t.backToDesk()
}

// backToDesk stops the lease of a person whose task waits for somebody else.
func (t *Task) backToDesk() {
	if t.State == event.Executing {
		t.runClocks(time.Time{})
	}
}

func (t *Task) onTicketClosed(e event.TicketClosed) {
	if k := t.OpenTicket(); k != nil && e.Outcome == event.TicketAnswered {
		a := Answer{Ticket: k.N, Question: k.Question, Answer: e.Answer, Detail: e.Detail, By: word(e), At: e.At}
		t.Answers = passage.Newest(append(slices.Clip(t.Answers), a), MaxAnswers, &t.Dropped.Answers, new(int))
		t.Marks++ // an answer is a decision
	}
	t.closeTicket(e.Outcome, word(e), e.Detail, e.At)
	if k := t.Ticket; k != nil && k.N == e.Ticket {
		told := *k
		told.Answer = e.Answer
		t.Ticket = &told
	}
	t.runClocks(e.Lease)
	t.State, t.TakeUpBy = event.Pending, e.TakeUpBy
	t.Resumed = e.Tell || e.Outcome != event.TicketWithdrawn // the source that took it back knows
	if t.Owner != "" {
		t.State = event.Executing
	}
}

// word names the principal that closed a ticket and, of a person at the client of an agent, that agent: the word is as good as its bearer.
func word(e event.TicketClosed) string {
	if e.Through == "" {
		return e.By
	}
	return e.By + atClient + e.Through
}

// atClient stands between the name of a person and that of the agent at whose client the person is. No name contains it.
const atClient = " at the client of "

// Where is who gave an answer and, if that is a person at the client of an agent, which: empty for others.
func (a Answer) Where() (by, at string) {
	by, agent, is := strings.Cut(a.By, atClient)
	if is {
		at = strings.TrimSpace(atClient) + " " + agent
	}
	return by, at
}

// closeTicket notes how the open ticket ended, if there is one.
func (t *Task) closeTicket(outcome event.TicketOutcome, by, detail string, at time.Time) {
	t.onTicket(func(k *Ticket) {
		k.State, k.Outcome, k.ClosedBy, k.Detail, k.Closed, k.Kept = event.TicketStateClosed, outcome, by, detail, at, time.Time{}
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
