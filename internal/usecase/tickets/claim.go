package tickets

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// ClaimInput takes a ticket on.
type ClaimInput struct {
	ID string `json:"id,omitempty" doc:"Of the ticket."`
}

// Claim takes a ticket on, so that others leave it alone. The task of a takeover becomes the claimant's, who is a person
// registered as an agent: themselves, or, for an operator, the agent of the same name.
func (ts *Tickets) Claim(ctx context.Context, c caller.Caller, in ClaimInput) (taskstore.Receipt, error) {
	return ts.act(ctx, c, "claim", in.ID, in, func(t task.Task, n int, s desk.Reader, now time.Time) ([]event.Event, error) {
		cmd := handoff.Claim{By: c.Principal, Serves: s.Serves, Ticket: n, Agent: s.Person}
		if k := t.AtDesk(); k != nil && k.Kind == event.TicketTakeover && s.Person != "" {
			var err error
			cmd.Envelope, err = ts.sealer.ToPerson(ctx, c.Workspace, t, s.Person, event.ReasonEscalation, "taken from the desk "+k.Desk, now)
			if err != nil {
				return nil, err
			}
		}
		return handoff.Decide(t, cmd, now)
	})
}
