package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Release returns a claimed ticket to its desk, as its claimant or an operator. The task of a takeover waits again; its
// progress is kept.
type Release struct {
	By     identity.Principal
	Epoch  uint64 // of a takeover: the task's, from its owner
	Ticket int
	Detail string
}

func (c Release) decide(t task.Task, now time.Time) ([]event.Event, error) {
	k, err := authority.OpenTicket(t, c.Ticket)
	if err != nil {
		return nil, err
	}
	if err := event.CheckField("detail", c.Detail); err != nil {
		return nil, err
	}
	switch {
	case k.State != event.TicketStateClaimed:
		return nil, refusal.New(refusal.Conflict, "nothing to do", "nobody has claimed ticket %s", event.TicketID(t.ID, k.N))
	case !samePerson(c.By, k.ClaimedBy) && !c.By.IsOperator():
		return nil, refusal.New(refusal.NotPermitted, "ask them, or an operator", "%s has claimed ticket %s", k.ClaimedBy, event.TicketID(t.ID, k.N))
	}
	e := event.TicketReleased{Ticket: k.N, By: c.By.Short(), Detail: c.Detail, Due: k.Due}
	if k.Kind == event.TicketTakeover {
		if t.State != event.Executing {
			return nil, busy(t)
		}
		if c.Epoch != 0 || !c.By.IsOperator() {
			if err := authority.RequireEpoch(t, c.Epoch); err != nil {
				return nil, err
			}
		}
		e.Due = k.Span.After(now)
	}
	return []event.Event{e}, nil
}
