package handoff

import (
	"fmt"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// What the invariants say of tickets.

// atDesk reports whether the task waits for people: for an answer, or for somebody who takes it.
func atDesk(t task.Task) bool {
	k := t.Ticket
	return k != nil && k.State != event.TicketStateClosed && (k.Kind == event.TicketQuestion || k.Kind == event.TicketTakeover && k.State == event.TicketStateOpen)
}

// peopleAsked: a ticket is open exactly where people are waited for or have the task, always with a clock; nobody waits for one
// that is closed.
func peopleAsked(t task.Task) error {
	k := t.Ticket
	approval := t.InFlight() != nil && t.InFlight().Stage == event.AwaitingApproval
	if k == nil || k.State == event.TicketStateClosed {
		switch {
		case approval:
			return fmt.Errorf("an approval is waited for, and nobody is asked: %+v", k)
		case k != nil && (k.Outcome == "" || k.Closed.IsZero() || !k.Kept.IsZero()):
			return fmt.Errorf("a ticket is closed without an end: %+v", k)
		}
		return nil
	}
	claimed := k.State == event.TicketStateClaimed
	switch {
	case t.State.Final() || t.State == event.Parked || t.State == event.Pending:
		return fmt.Errorf("a ticket is open and the task is %s: %+v", t.State, k)
	case k.Due.IsZero() || k.Desk == "" || k.Outcome != "":
		return fmt.Errorf("a ticket is open without a clock or a desk, or with an end: %+v", k)
	case claimed != (k.ClaimedBy != ""):
		return fmt.Errorf("a ticket is %s by %q", k.State, k.ClaimedBy)
	case approval != (k.Kind == event.TicketApproval):
		return fmt.Errorf("a ticket for a %s while the handoff is %+v", k.Kind, t.InFlight())
	case atDesk(t) && t.State != event.Waiting:
		return fmt.Errorf("people are asked, and the task is %s", t.State)
	case k.Kind == event.TicketTakeover && claimed && k.ClaimedBy != t.Owner:
		return fmt.Errorf("%s has taken the task over, and %s owns it", k.ClaimedBy, t.Owner)
	}
	return nil
}

// byPeople: a ticket is handled by an operator, the person asked by name or a person of its desk, never by the asker.
func byPeople(before task.Task, c Command, events []event.Event, _ task.Task) error {
	var by identity.Principal
	var serves []string
	switch c := c.(type) {
	case Claim:
		by, serves = c.By, c.Serves
	case Answer:
		by, serves = c.By, c.Serves
	case DenyTicket:
		by, serves = c.By, c.Serves
	default:
		return nil
	}
	k := before.Ticket
	if len(events) == 0 {
		return nil
	}
	mine := k.To != "" && by.Agent() == k.To || k.To == "" && k.Kind != event.TicketApproval && slices.Contains(serves, k.Desk)
	approver := k.Kind == event.TicketApproval && by.Agent() != "" && before.Handoff.Approver == by.Agent() // also once the operators were asked
	if !by.IsOperator() && !mine && !approver {
		return fmt.Errorf("%s, who serves %v, saw to %+v", by.String(), serves, k)
	}
	if _, claim := c.(Claim); claim && k.Kind == event.TicketTakeover && k.State == event.TicketStateClaimed {
		return fmt.Errorf("%s took what %s had taken", by.String(), k.ClaimedBy)
	}
	if k.Kind != event.TicketTakeover && (by.Agent() != "" && by.Agent() == before.Owner || by.String() == before.Source()) {
		return fmt.Errorf("%s saw to what it asked itself: %+v", by.String(), k)
	}
	return nil
}
