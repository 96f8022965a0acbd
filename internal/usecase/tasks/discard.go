package tasks

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// DiscardInput gives a dead letter up.
type DiscardInput struct {
	Task string `json:"task,omitempty" doc:"Id of the task."`
	Why  string `json:"why" minLength:"1" doc:"Why it may be dropped."`
}

// Discard gives a task in the dead letters up, for a reason.
func (ts *Tasks) Discard(ctx context.Context, c caller.Caller, in DiscardInput) (taskstore.Receipt, error) {
	if err := c.May(identity.ManageDeadLetters, "discard a dead letter"); err != nil {
		return taskstore.Receipt{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "discard", in.Task, err)
	}
	return ts.store.Change(ctx, c, "discard", in.Task, in, handoff.Discard{By: c.Principal, Why: in.Why})
}
