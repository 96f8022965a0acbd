package tasks

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// GapInput says what is missing from the context.
type GapInput struct {
	Task    string       `json:"task,omitempty" doc:"Id of the task."`
	Epoch   uint64       `json:"epoch" doc:"The task's epoch as you know it."`
	Missing []string     `json:"missing" minItems:"1" doc:"Names of fields, or ids of what was left out or could not be fetched."`
	Detail  string       `json:"detail,omitempty" doc:"In words."`
	Usage   event.Budget `json:"usage,omitzero" doc:"What the work cost since the last report."`
}

// ReportGap records that the owner's context lacks something, and renews its lease. The owner goes on working with what there is; one
// who cannot rejects the offer instead, or hands the task back.
func (ts *Tasks) ReportGap(ctx context.Context, c caller.Caller, in GapInput) (taskstore.Receipt, error) {
	return ts.owned(ctx, c, "gap", in.Task, in, func(by identity.Principal) handoff.Command {
		return handoff.ReportGap{By: by, Epoch: in.Epoch, Missing: in.Missing, Detail: in.Detail, Usage: in.Usage}
	})
}
