package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// DenyTicket closes a question without an answer, or a takeover that the desk does not want. The task continues with its
// owner, returns to the agent that requested it, or goes to the dead letters.
type DenyTicket struct {
	By     identity.Principal
	Serves []string
	Ticket int
	Detail string
}

func (c DenyTicket) decide(t task.Task, now time.Time) ([]event.Event, error) {
	k, err := served(t, c.By, c.Serves, c.Ticket, now)
	if err != nil {
		return nil, err
	}
	if k.Kind == event.TicketTakeover && k.State == event.TicketStateClaimed {
		return nil, refusal.New(refusal.Conflict, "[complete the task](task complete), [hand it off](send), or [release the ticket](ticket release)", "%s has taken task %s over", k.ClaimedBy, t.ID)
	}
	if k.Kind == event.TicketApproval {
		return Deny{By: c.By, Handoff: k.Handoff, Detail: c.Detail}.decide(t, now)
	}
	if err := event.CheckField("detail", c.Detail); err != nil {
		return nil, err
	}
	d := decision{t: t}
	d.do(task.Closed(&t, event.TicketClosed{Outcome: event.TicketDenied, By: c.By.Short(), Detail: c.Detail}, now))
	if d.t.Owner == "" && !t.ToldRequester() {
		why := attributed("denied", c.By, c.Detail)
		d.do(park(event.ParkReturned, why, now))
	}
	return d.events, nil
}
