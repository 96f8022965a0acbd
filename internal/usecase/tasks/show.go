package tasks

import (
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Show returns a task that the caller may see; to whom it was only offered or shared, a preview. It is a fresh read, and
// is recorded.
func (ts *Tasks) Show(ctx context.Context, c caller.Caller, id string) (taskstore.Task, error) {
	return ts.Wait(ctx, c, TaskInput{ID: id})
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
