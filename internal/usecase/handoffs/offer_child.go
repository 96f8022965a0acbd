package handoffs

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
)

// OfferChild is the first offer of a child that its parent has recorded, to the agent that the parent named: see [Handoffs.Decide]. One
// that cannot take it now is waited for.
func (h *Handoffs) OfferChild(ctx context.Context, c caller.Caller, ev event.Spawned, t task.Task, to string, parent task.Task, now time.Time) ([]event.Event, error) {
	p, err := h.routes.Plan(ctx, c.Workspace, routes.For(to, h.policies.InMemory(c.Workspace), t, t.SourcePrincipal()), now)
	if err != nil {
		return nil, err
	}
	req := routing.Request{Own: []string{t.NextHandoffID()}, Spread: t.ID, Sender: t.SourcePrincipal()}
	if p, err = h.routes.Behind(ctx, c.Workspace, p, event.Receiver{Agent: to}, h.policies.InMemory(c.Workspace), t, req, now); err != nil {
		return nil, err
	}
	if p.Refused != nil { // it was there when it was named; the offer waits for its return
		p.Candidates = event.Named(to)
	}
	send := toChild(ev, t.ID, to)
	sealed, err := h.sealer.ComposeChild(ctx, c.Workspace, t, parent, ev, send.header(c, t, []string{to}), now)
	if err != nil {
		return nil, err
	}
	cmd := send.request(c, p, sealed)
	cmd.Part, cmd.Claim = true, false
	return h.routes.Offering(ctx, c.Workspace, t, now, handoff.Hints{Jitter: h.routes.Jitter()}, func(hints handoff.Hints) handoff.Command {
		cmd.Hints = hints
		return cmd
	})
}

// toChild is the first handoff of a child to the agent that its parent named.
func toChild(ev event.Spawned, id, to string) SendInput {
	return SendInput{
		Task: id, To: []string{to}, Kind: ev.Kind, Reason: ev.Reason, Detail: ev.Detail, Timeouts: ev.Timeouts,
		Retries: &ev.Retries, Pack: ev.Pack, Channel: ev.Channel,
	}
}
