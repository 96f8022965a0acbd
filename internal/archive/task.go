package archive

import (
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/caller"
	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/stream"
	"github.com/trapezehq/trapeze/internal/view"
)

// Task returns a task that the caller may see; to whom it was only offered or shared, a preview. It is a fresh read, and
// on record.
func (a *Archive) Task(ctx context.Context, c caller.Caller, id string) (docket.Task, error) {
	t, err := a.tasks.For(ctx, c, id)
	if err != nil {
		return docket.Task{}, a.access.Refused(ctx, c.Who(), "show", id, err)
	}
	t.Task = preview(c, t.Task)
	return t, a.access.Read(ctx, c.Who(), id, "task", "")
}

// MaxPreview is how many bytes of the intent a preview shows, as inboxes do.
const MaxPreview = 500

// preview leaves out what is for the task's holders alone where the caller was only offered or shared it.
func preview(c caller.Caller, t custody.Task) custody.Task {
	name := c.Agent()
	if docket.Holds(c, t) {
		return t
	}
	t.Intent = refusal.Clip(t.Intent, MaxPreview)
	t.Progress, t.Result, t.Children, t.Asks, t.Ticket, t.Answers = "", nil, nil, nil, nil, nil
	t.Shares = slices.DeleteFunc(slices.Clone(t.Shares), func(s custody.Share) bool { return s.To != name })
	return t
}

// TasksInput narrows a list of tasks.
type TasksInput struct {
	view.TaskFilter
}

// Tasks lists the tasks that the caller may see, newest first.
func (a *Archive) Tasks(ctx context.Context, c caller.Caller, in TasksInput) ([]view.Task, error) {
	if err := c.May(identity.ReadOwn, "list tasks"); err != nil {
		return nil, a.access.Refused(ctx, c.Who(), "list", "", err)
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
