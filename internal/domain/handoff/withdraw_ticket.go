package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// WithdrawTicket withdraws a question or a takeover from its desk, as the task's source or an operator.
type WithdrawTicket struct {
	By     identity.Principal
	Epoch  uint64
	Ticket int
	Detail string
}

func (c WithdrawTicket) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := authority.RequireSource(t, c.By, c.Epoch); err != nil {
		return nil, err
	}
	k, err := authority.OpenTicket(t, c.Ticket)
	if err != nil {
		return nil, err
	}
	if t.AtDesk() == nil {
		return nil, refusal.New(refusal.Conflict, "[withdraw its handoff](handoff withdraw), or [release the ticket](ticket release)", "task %s does not wait for ticket %s",
			t.ID, event.TicketID(t.ID, k.N))
	}
	if err := event.CheckField("detail", c.Detail); err != nil {
		return nil, err
	}
	return []event.Event{task.Closed(&t, event.TicketClosed{Outcome: event.TicketWithdrawn, By: c.By.Short(), Detail: c.Detail, Tell: c.By.String() != t.SourcePrincipal()}, now)}, nil
}
