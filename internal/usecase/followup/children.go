package followup

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// CreateChildren creates the child tasks that a parent has recorded, each with its envelope and its first offer. Those that exist stay as they are. It waits for a call for the
// same entry that is under way.
func (u *FollowUp) CreateChildren(ctx context.Context, workspace, parent string, e ledger.Entry, ev event.Spawned) error {
	done, err := u.creating.enter(ctx, e.Position)
	if err != nil {
		return stream.Unavailable(err)
	}
	defer done()
	out, err := u.tasks.AsOf(ctx, taskstore.StreamOf(workspace, parent), e.Position)
	if err != nil {
		return err
	}
	c := caller.System(workspace, "courier", e.Actor)
	for n := range ev.Children {
		create := handoff.ChildOf(*out.State, ev, n)
		_, err := u.tasks.Do(ctx, c.Write(""), taskstore.StreamOf(workspace, create.Task), func(t task.Task, now time.Time) ([]event.Event, error) {
			if t.Exists() {
				return nil, nil
			}
			return u.decideChild(ctx, c, ev, create, ev.Children[n].To, *out.State, now)
		})
		if err := caller.Tolerate(err); err != nil {
			return err
		}
	}
	return nil
}

func (u *FollowUp) decideChild(ctx context.Context, c caller.Caller, ev event.Spawned, create handoff.Create, to string, parent task.Task, now time.Time) ([]event.Event, error) {
	events, err := handoff.Decide(task.Task{}, create, now)
	if err != nil {
		return nil, err
	}
	t := task.FoldAll(task.Task{}, events)
	sent, err := u.handoffs.OfferChild(ctx, c, ev, t, to, parent, now)
	if err != nil && caller.Tolerate(err) == nil {
		sent, err = strand(t, err, now)
	}
	return append(events, sent...), err
}

// CancelChildren cancels what is open of a cancelled task's children.
func (u *FollowUp) CancelChildren(ctx context.Context, workspace string, e ledger.Entry) error {
	f, err := u.tasks.LoadAt(ctx, e)
	if err != nil {
		return err
	}
	var open []string
	for _, c := range f.State.Children {
		if !c.State.Final() {
			open = append(open, c.Task)
		}
	}
	return u.CancelAll(ctx, workspace, open, "its parent was cancelled")
}

// CancelAll cancels child tasks for their parent.
func (u *FollowUp) CancelAll(ctx context.Context, workspace string, ids []string, why string) error {
	for _, id := range ids {
		cmd := handoff.Cancel{By: caller.System(workspace, "courier").Principal, Detail: why}
		if err := u.tell(ctx, workspace, id, cmd); err != nil {
			return err
		}
	}
	return nil
}
