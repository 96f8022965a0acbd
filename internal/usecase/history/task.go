package history

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// MaxWait is the longest that a call may wait for a task: shorter than the usual client timeouts.
const MaxWait = 55 * time.Second

// TaskInput asks for one task.
type TaskInput struct {
	ID string
	// After is the position of the task as the caller knows it: Wait is then until it has a newer entry. 0: until it is
	// completed, failed, cancelled or parked.
	After ledger.Position
	Wait  time.Duration // 0: not at all
}

// Task returns a task that the caller may see; to whom it was only offered or shared, a preview. It is a fresh read, and
// on record.
func (a *Archive) Task(ctx context.Context, c caller.Caller, id string) (taskstore.Task, error) {
	return a.WaitTask(ctx, c, TaskInput{ID: id})
}

// WaitTask is [Archive.Task], as the task is when the wait is over, whether there is what was waited for or not. The read
// is on record once.
func (a *Archive) WaitTask(ctx context.Context, c caller.Caller, in TaskInput) (taskstore.Task, error) {
	t, err := a.waitFor(ctx, c, in)
	if err != nil {
		return taskstore.Task{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "show", in.ID, err)
	}
	t.Task = preview(c, t.Task)
	return t, a.access.Read(ctx, c.Workspace, c.Actor(), in.ID, "task", "")
}

// waitFor looks at the task once, and again only when the views have something new of it.
func (a *Archive) waitFor(ctx context.Context, c caller.Caller, in TaskInput) (taskstore.Task, error) {
	if in.Wait < 0 || in.Wait > MaxWait {
		return taskstore.Task{}, refusal.New(refusal.Invalid, "use 0s to 55s and call again when it is over", "a wait of %s is out of range", in.Wait)
	}
	if in.Wait == 0 {
		return a.tasks.For(ctx, c, in.ID)
	}
	if err := a.OnRecord(ctx, in.After); err != nil {
		return taskstore.Task{}, err
	}
	changed, stop := a.views.WatchTask(c.Workspace, in.ID) // before the first look, so that nothing comes in between
	defer stop()
	deadline := time.NewTimer(in.Wait)
	defer deadline.Stop()
	for late := false; ; {
		t, err := a.tasks.For(ctx, c, in.ID)
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

// MaxPreview is how many bytes of the intent a preview shows, as inboxes do.
const MaxPreview = 500

// preview leaves out what is for the task's holders alone where the caller was only offered or shared it.
func preview(c caller.Caller, t task.Task) task.Task {
	name := c.Agent()
	if taskstore.Holds(c, t) {
		return t
	}
	t.Intent = refusal.Clip(t.Intent, MaxPreview)
	t.Progress, t.Result, t.Children, t.Asks, t.Ticket, t.Answers = "", nil, nil, nil, nil, nil
	t.Shares = slices.DeleteFunc(slices.Clone(t.Shares), func(s task.Share) bool { return s.To != name })
	return t
}

// TasksInput narrows a list of tasks.
type TasksInput struct {
	view.TaskFilter
}

// Tasks lists the tasks that the caller may see, newest first.
func (a *Archive) Tasks(ctx context.Context, c caller.Caller, in TasksInput) ([]view.Task, error) {
	if err := c.May(identity.ReadOwn, "list tasks"); err != nil {
		return nil, a.access.Refused(ctx, c.Workspace, c.Actor(), "list", "", err)
	}
	if in.Limit < 0 || in.Limit > view.MaxPage {
		return nil, refusal.New(refusal.Invalid, "use 1 to 500", "a limit of %d is out of range", in.Limit)
	}
	f := in.TaskFilter
	if !identity.May(c.Role, identity.ReadAny) {
		f.Involving = c.Name
	}
	list, err := a.views.Tasks(ctx, c.Workspace, f)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	return list, nil
}
