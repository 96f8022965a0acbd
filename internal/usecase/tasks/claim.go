package tasks

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// JoinClaims lets an agent that became ready by the entry at a position join the open claims for its capabilities, and
// those of channels to which it subscribed already when they were published.
func (a *App) JoinClaims(ctx context.Context, workspace, name string, at ledger.Position) error {
	state, err := a.Known(ctx, workspace, name, true)
	if err != nil || state.Spec.Kind == agent.KindHuman || state.Readiness() != agent.Ready || agent.CircuitAt(state, a.now()).Phase != agent.Closed {
		return err
	}
	if err := a.views.Wait(ctx, at); err != nil {
		return stream.Unavailable(err)
	}
	ids, err := a.views.Missed(ctx, workspace, name)
	if err != nil {
		return stream.Unavailable(err)
	}
	for _, capability := range state.Spec.Capabilities {
		more, err := a.views.Claims(ctx, workspace, capability)
		if err != nil {
			return stream.Unavailable(err)
		}
		ids = append(ids, more...)
	}
	for _, id := range ids {
		if err := a.joinClaim(ctx, workspace, name, id); err != nil {
			return err
		}
	}
	return nil
}

// joinClaim lets an agent join one claim, unless it has left the channel that it was published to, or its token budget is
// too small for the envelope.
func (a *App) joinClaim(ctx context.Context, workspace, name, id string) error {
	task, n, err := event.ParseHandoffID(id)
	if err != nil {
		return err
	}
	f, err := a.tasks.Load(ctx, taskstore.StreamOf(workspace, task), true)
	if err != nil {
		return err
	}
	h := f.State.InFlight()
	if h == nil || h.N != n {
		return nil
	}
	if h.Channel != "" {
		if still, err := a.Subscribes(ctx, workspace, h.Channel, name); err != nil || !still {
			return err
		}
	}
	if err := a.sealer.Fits(ctx, workspace, task, h.Envelope, name, h.Pack); err != nil {
		return caller.Tolerate(err)
	}
	return a.tell(ctx, workspace, task, handoff.JoinClaim{Agent: name, Handoff: n})
}
