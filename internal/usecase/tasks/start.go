package tasks

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Start makes the calling agent the owner of its own pending task.
func (ts *Tasks) Start(ctx context.Context, c caller.Caller, task string) (taskstore.Receipt, error) {
	return ts.store.Change(ctx, c, "start", task, nil, handoff.Start{By: c.Principal})
}
