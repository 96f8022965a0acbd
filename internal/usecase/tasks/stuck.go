package tasks

import (
	"cmp"
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// StuckInput says that the owner of a task makes no progress.
type StuckInput struct {
	Task   string `json:"task,omitempty" doc:"Id of the task."`
	Owner  string `json:"owner,omitempty" doc:"Its owner as you know it; if it has another, the call is refused."`
	Detail string `json:"detail,omitempty" doc:"How one can tell."`
}

// Stuck offers a task whose owner makes no progress to the fallbacks of that owner, at once: on the word of its requester, of the
// owner of a task that it works for, or of an operator. They get the last envelope and what the owner has reported. Until
// one accepts, the owner ends that by progress or a result; if nobody does, it keeps the task.
func (ts *Tasks) Stuck(ctx context.Context, c caller.Caller, in StuckInput) (taskstore.Receipt, error) {
	out, err := ts.store.Decide(ctx, c, "stuck", in.Task, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		above, err := ts.owns(ctx, c, t.Parent)
		if err != nil {
			return nil, err
		}
		if !t.Exists() || !above && !ts.store.Sees(c, t) {
			return nil, taskstore.Unknown(in.Task)
		}
		if err := ts.ownedBy(ctx, c, t, in.Owner); err != nil {
			return nil, err
		}
		return ts.decideStuck(ctx, c, t, handoff.Stuck{By: c.Principal, Above: above, Detail: in.Detail}, now)
	})
	if err != nil {
		return taskstore.Receipt{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "stuck", in.Task, err)
	}
	return taskstore.ReceiptOf(out), nil
}

func (ts *Tasks) decideStuck(ctx context.Context, c caller.Caller, t task.Task, cmd handoff.Stuck, now time.Time) ([]event.Event, error) {
	if _, err := handoff.Decide(t, cmd, now); err != nil && refusal.CodeOf(err) != refusal.Unavailable {
		return nil, err // this caller may not say who takes over
	}
	p, err := ts.handoffs.RecoveryPlan(ctx, c.Workspace, t, false, now)
	if err != nil {
		return nil, err
	}
	cmd.Recovery, cmd.Chain, cmd.Passed, cmd.Hints.Jitter = p.Candidates, p.Chain, p.Passed, ts.routes.Jitter()
	if no, refused := refusal.As(p.Refused); refused && len(cmd.Recovery) == 0 {
		return nil, no.With("passed_over", p.Passed)
	}
	if len(cmd.Recovery) > 0 {
		fit, passed, sealed, err := ts.handoffs.Recoverable(ctx, c.Workspace, t, cmd.Recovery, c.String(), cmp.Or(cmd.Detail, t.Owner+" is stuck"), now)
		if err != nil {
			return nil, err
		}
		cmd.Recovery, cmd.Passed, cmd.Envelope = fit, append(cmd.Passed, passed...), sealed
	}
	return ts.routes.Offering(ctx, c.Workspace, t, now, cmd.Hints, func(hints handoff.Hints) handoff.Command {
		cmd.Hints = hints
		return cmd
	})
}

// maxGenerations is how far up a task's parents are looked for.
const maxGenerations = 32

// owns reports whether the caller, an agent, owns a task or one that it works for, and so on upwards.
func (ts *Tasks) owns(ctx context.Context, c caller.Caller, of event.Parent) (bool, error) {
	for range maxGenerations {
		if of.Task == "" || c.Agent() == "" {
			return false, nil
		}
		t, err := ts.store.Find(ctx, c.Workspace, of.Task)
		if err != nil || t.Owner == c.Agent() {
			return err == nil, err
		}
		of = t.Parent
	}
	return false, nil
}
