package handoffs

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
)

// MaxRelief is how many tasks or offers are moved away from an agent in one turn.
const MaxRelief = 100

// Count notes who got an offer that was shed.
func Count(peers *routes.Peers, out stream.Outcome[task.Task]) {
	if h := out.State.Handoff; len(out.Events) > 0 && h != nil && len(h.To) == 1 {
		peers.Gave(h.To[0])
	}
}

// Shedding decides to move one offer away from an agent.
func (h *Handoffs) Shedding(ctx context.Context, c caller.Caller, o view.Item, agent, why string, peers *routes.Peers) func(task.Task, time.Time) ([]event.Event, error) {
	return func(t task.Task, now time.Time) ([]event.Event, error) {
		_, n, err := event.ParseHandoffID(o.ID)
		if err != nil {
			return nil, err
		}
		cmd := handoff.Shed{By: c.Principal, Agent: agent, Handoff: n, Offer: o.Offer, Why: why}
		if _, err := handoff.Decide(t, cmd, now); err != nil { // only what is allowed is worth looking for others
			return nil, err
		}
		if cmd.To, err = h.relieving(ctx, c.Workspace, t, peers, now); err != nil {
			return nil, err
		}
		return h.routes.Offering(ctx, c.Workspace, t, now, handoff.Hints{}, func(hints handoff.Hints) handoff.Command {
			cmd.Hints = hints
			return cmd
		})
	}
}

// relieving are the peers that can read the envelope of a task's handoff: the first few of those that have room.
func (h *Handoffs) relieving(ctx context.Context, workspace string, t task.Task, peers *routes.Peers, now time.Time) ([]string, error) {
	from := t.Handoff
	others, err := peers.For(ctx, from.Capability, now)
	if err != nil || len(others) == 0 {
		return nil, err
	}
	doc, err := h.sealer.Open(ctx, workspace, t.ID, from.Envelope)
	if err != nil {
		return nil, err
	}
	others, _, err = h.sealer.Fitting(ctx, workspace, &event.Sealed{Digest: from.Envelope}, doc, others, from.Pack)
	if err != nil {
		return nil, err
	}
	to := make([]string, min(len(others), routes.MaxPeers))
	for i := range to {
		to[i] = others[i].Agent
	}
	return to, nil
}
