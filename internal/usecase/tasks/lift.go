package tasks

import (
	"context"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// LiftInput takes a constraint away, or what one principal has tightened of it.
type LiftInput struct {
	Task        string `json:"task,omitempty" doc:"Id of the task."`
	ID          string `json:"id,omitempty" doc:"Of the constraint."`
	TightenedBy string `json:"tightened_by,omitempty" doc:"Lift only what this principal has tightened: an agent's name, or operator/NAME."`
	Why         string `json:"why" doc:"Why it may be lifted." minLength:"1"`
}

// Lift takes a constraint away, or what one principal has tightened of it: see [handoff.Lift].
func (ts *Tasks) Lift(ctx context.Context, c caller.Caller, in LiftInput) (taskstore.Receipt, error) {
	if in.TightenedBy != "" && !strings.Contains(in.TightenedBy, "/") {
		in.TightenedBy = "agent/" + in.TightenedBy
	}
	return ts.store.Change(ctx, c, "lift", in.Task, in, handoff.Lift{By: c.Principal, ID: in.ID, TightenedBy: in.TightenedBy, Why: in.Why})
}
