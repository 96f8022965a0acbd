package tasks

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// ConstrainInput adds or tightens a constraint.
type ConstrainInput struct {
	Task       string           `json:"task,omitempty" doc:"Id of the task."`
	Epoch      uint64           `json:"epoch,omitempty" doc:"The task's epoch as you know it."`
	Constraint event.Constraint `json:"constraint"`
}

// Constrain adds a constraint, or tightens one.
func (ts *Tasks) Constrain(ctx context.Context, c caller.Caller, in ConstrainInput) (taskstore.Receipt, error) {
	return ts.store.Change(ctx, c, "constrain", in.Task, in, handoff.Constrain{
		By: c.Principal, Epoch: in.Epoch, Constraint: in.Constraint, Count: envelopes.Tokens,
	})
}
