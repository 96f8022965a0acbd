package tasks

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/span"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// FindTrace returns the context in the trace of a task to which a call of the caller about the task belongs, as a traceparent. It is
// empty if there is no such task that the caller may see. It may be a little late, and is not recorded.
func (ts *Tasks) FindTrace(ctx context.Context, c caller.Caller, id string) string {
	if event.CheckTaskID(id) != nil {
		return ""
	}
	f, err := ts.store.Load(ctx, taskstore.StreamOf(c.Workspace, id), false)
	if err != nil || !f.State.Exists() || !ts.store.Sees(c, f.State) {
		return ""
	}
	return span.Within(&f.State, c.Agent()).String()
}
