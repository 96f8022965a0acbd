package followup

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Tick lets the clocks of a task that are due do what they do. Early or repeated ticks are harmless.
func (u *FollowUp) Tick(ctx context.Context, ref view.Ref) error {
	c := caller.System(ref.Workspace, "courier")
	_, err := u.tasks.Do(ctx, c.Write(""), taskstore.StreamOf(ref.Workspace, ref.Task), func(t task.Task, now time.Time) ([]event.Event, error) {
		if due := t.Due(); due.IsZero() || due.After(now) {
			return nil, nil
		}
		if !t.NeedsRecovery(now) {
			return u.routes.OfferNext(ctx, ref.Workspace, t, now, func(hints handoff.Hints) handoff.Command { return handoff.Tick{Hints: hints} })
		}
		cmd, err := u.recovery(ctx, ref.Workspace, t, now)
		if err != nil {
			return nil, err
		}
		return u.routes.Offering(ctx, ref.Workspace, t, now, cmd.Hints, func(hints handoff.Hints) handoff.Command {
			cmd.Hints = hints
			return cmd
		})
	})
	return caller.Tolerate(err)
}

// recovery is the tick that replaces a lost owner: its successors, and their envelope.
func (u *FollowUp) recovery(ctx context.Context, workspace string, t task.Task, now time.Time) (handoff.Tick, error) {
	var cmd handoff.Tick
	p, err := u.handoffs.RecoveryPlan(ctx, workspace, t, true, now)
	if err != nil {
		return cmd, err
	}
	cmd.Recovery, cmd.Chain = p.Candidates, p.Chain
	cmd.Hints.Jitter = u.routes.Jitter()
	detail := t.Owner + " showed no life"
	if t.Lease.After(now) {
		detail = t.Owner + " reported no progress"
	}
	cmd.Recovery, cmd.Passed, cmd.Envelope, err = u.handoffs.Recoverable(ctx, workspace, t, cmd.Recovery, "", detail, now)
	return cmd, err
}
