package tasks

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// TaskInput asks for one task.
type TaskInput struct {
	ID string
	// After is the position of the task as the caller knows it: Wait is then until it has a newer entry. 0: until it is
	// completed, failed, cancelled or parked.
	After ledger.Position
	Wait  time.Duration // 0: not at all
}

// Wait is [Tasks.Show], as the task is when the wait is over, whether there is what was waited for or not. The read
// is recorded once. A caller that waited has seen its notice of the task.
func (ts *Tasks) Wait(ctx context.Context, c caller.Caller, in TaskInput) (taskstore.Task, error) {
	t, err := ts.waitFor(ctx, c, in)
	if err != nil {
		return taskstore.Task{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "show", in.ID, err)
	}
	if in.Wait > 0 {
		ts.noticed(ctx, c, t)
	}
	t.Task = preview(c, t.Task)
	return t, ts.access.Read(ctx, c.Workspace, c.Actor(), in.ID, "task", "")
}

// waitFor looks at the task once, and again only when the views have something new of it.
func (ts *Tasks) waitFor(ctx context.Context, c caller.Caller, in TaskInput) (taskstore.Task, error) {
	if in.Wait < 0 || in.Wait > MaxWait {
		return taskstore.Task{}, refusal.New(refusal.Invalid, "use 0s to 55s and call again when it is over", "a wait of %s is out of range", in.Wait).With("field", "wait")
	}
	if in.Wait == 0 {
		return ts.store.For(ctx, c, in.ID)
	}
	if err := ts.positions.Check(ctx, in.After); err != nil {
		return taskstore.Task{}, err
	}
	changed, stop := ts.views.WatchTask(c.Workspace, in.ID) // before the first look, so that nothing comes in between
	defer stop()
	deadline := time.NewTimer(in.Wait)
	defer deadline.Stop()
	for late := false; ; {
		t, err := ts.store.For(ctx, c, in.ID)
		if err != nil || late || in.over(t) {
			return t, err
		}
		select {
		case <-changed:
		case <-deadline.C:
			late = true
		case <-ctx.Done():
			return taskstore.Task{}, stream.Unavailable(ctx.Err())
		}
	}
}

// over reports whether there is what was waited for.
func (in TaskInput) over(t taskstore.Task) bool {
	if in.After != 0 {
		return t.Position > in.After
	}
	return t.State.Final() || t.State == event.Parked
}
