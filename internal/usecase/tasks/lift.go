package tasks

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// LiftInput takes a constraint away.
type LiftInput struct {
	Task string `json:"task,omitempty" doc:"Id of the task."`
	ID   string `json:"id,omitempty" doc:"Of the constraint."`
	Why  string `json:"why" doc:"Why it may be lifted." minLength:"1"`
}

// Lift takes a constraint away, as the principal that set it or an operator.
func (ts *Tasks) Lift(ctx context.Context, c caller.Caller, in LiftInput) (taskstore.Receipt, error) {
	return ts.store.Change(ctx, c, "lift", in.Task, in, handoff.Lift{By: c.Principal, ID: in.ID, Why: in.Why})
}
