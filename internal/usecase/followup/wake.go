package followup

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Wake makes the offers that waited for a circuit of an agent, which closed by the entry at a position. Those that still cannot be made go on
// waiting.
func (u *FollowUp) Wake(ctx context.Context, workspace, name string, at ledger.Position) error {
	state, err := u.agents.Find(ctx, workspace, name, true) // fresh: the call that closed the circuit may not have returned
	if err != nil {
		return err
	}
	if err := u.views.Wait(ctx, at); err != nil {
		return stream.Unavailable(err)
	}
	ids, err := u.views.Waiting(ctx, workspace, state.Name)
	if err != nil {
		return stream.Unavailable(err)
	}
	for _, id := range ids {
		taskID, n, err := event.ParseHandoffID(id)
		if err != nil {
			return err
		}
		if err := u.wake(ctx, view.Ref{Workspace: workspace, Task: taskID}, n); err != nil {
			return err
		}
	}
	return nil
}

// WakeLate makes the offer of a handoff that waits for a circuit since an entry, if that has closed before the entry was written, and after it was decided:
// [FollowUp.Wake] did not see that it waits.
func (u *FollowUp) WakeLate(ctx context.Context, workspace, id string, e ledger.Entry) error {
	f, err := u.tasks.LoadAt(ctx, e)
	if err != nil {
		return err
	}
	h := f.State.InFlight()
	if h == nil || !h.AwaitsCircuit() {
		return nil
	}
	for _, c := range h.Candidates[min(h.Next, len(h.Candidates)):] {
		if c.IsDesk() {
			continue
		}
		state, err := u.agents.Known(ctx, workspace, c.Agent, true)
		if err != nil {
			return err
		}
		if agent.CircuitFor(state, task.Sender(&f.State, h), u.now()).Phase == agent.Closed {
			return u.wake(ctx, view.Ref{Workspace: workspace, Task: id}, h.N)
		}
	}
	return nil
}

func (u *FollowUp) wake(ctx context.Context, ref view.Ref, n int) error {
	c := caller.System(ref.Workspace, "courier")
	_, err := u.tasks.Do(ctx, c.Write(""), taskstore.StreamOf(ref.Workspace, ref.Task), func(t task.Task, now time.Time) ([]event.Event, error) {
		if h := t.InFlight(); h == nil || h.N != n {
			return nil, nil
		}
		return u.routes.OfferNext(ctx, ref.Workspace, t, now, func(hints handoff.Hints) handoff.Command { return handoff.Tick{Wake: true, Hints: hints} })
	})
	return caller.Tolerate(err)
}
