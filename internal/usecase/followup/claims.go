package followup

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// JoinClaims lets an agent that became ready by the entry at a position join the open claims for its capabilities, and
// those of channels to which it subscribed already when they were published.
func (u *FollowUp) JoinClaims(ctx context.Context, workspace, name string, at ledger.Position) error {
	state, err := u.agents.Find(ctx, workspace, name, true)
	name = state.Name
	if err != nil || state.Spec.Kind == agent.KindHuman || state.Readiness() != agent.Ready || agent.CircuitAt(state, u.now()).Phase != agent.Closed {
		return err
	}
	if err := u.views.Wait(ctx, at); err != nil {
		return stream.Unavailable(err)
	}
	ids, err := u.views.MissedClaims(ctx, workspace, name)
	if err != nil {
		return stream.Unavailable(err)
	}
	for _, capability := range state.Spec.Capabilities {
		more, err := u.views.Claims(ctx, workspace, capability)
		if err != nil {
			return stream.Unavailable(err)
		}
		ids = append(ids, more...)
	}
	for _, id := range ids {
		if err := u.joinClaim(ctx, workspace, name, id); err != nil {
			return err
		}
	}
	return nil
}

// joinClaim lets an agent join one claim, unless it has left the channel that it was published to, its token budget is
// too small for the envelope, or as many offers of the sender wait for it as may: the others that have the claim can take it.
func (u *FollowUp) joinClaim(ctx context.Context, workspace, name, id string) error {
	taskID, n, err := event.ParseHandoffID(id)
	if err != nil {
		return err
	}
	f, err := u.tasks.Load(ctx, taskstore.StreamOf(workspace, taskID), true)
	if err != nil {
		return err
	}
	h := f.State.InFlight()
	if h == nil || h.N != n {
		return nil
	}
	state, err := u.agents.Known(ctx, workspace, name, false)
	if err != nil || agent.CircuitFor(state, task.Sender(&f.State, h), u.now()).Phase != agent.Closed {
		return err
	}
	if h.Channel != "" {
		if still, err := u.channels.Subscribes(ctx, workspace, h.Channel, name); err != nil || !still {
			return err
		}
	}
	if err := u.sealer.Fits(ctx, workspace, taskID, h.Envelope, name, h.Pack); err != nil {
		return caller.Tolerate(err)
	}
	if err := u.routes.Admit(ctx, workspace, task.Sender(&f.State, h), name, id); err != nil {
		return caller.Tolerate(err)
	}
	return u.tell(ctx, workspace, taskID, handoff.JoinClaim{Agent: name, Handoff: n})
}
