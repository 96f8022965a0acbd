package tasks

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// ProgressInput reports what the owner has done.
type ProgressInput struct {
	Task  string       `json:"task,omitempty" doc:"Id of the task."`
	Epoch uint64       `json:"epoch" doc:"The task's epoch as you know it."`
	Note  string       `json:"note,omitempty" doc:"What was done. May be absent if usage is given, which is no progress then." minLength:"1"`
	Usage event.Budget `json:"usage,omitzero" doc:"What it cost since the last report."`
}

// Progress reports what the owner has done, and renews its lease.
func (ts *Tasks) Progress(ctx context.Context, c caller.Caller, in ProgressInput) (taskstore.Receipt, error) {
	return ts.owned(ctx, c, "progress", in.Task, in, func(by identity.Principal) handoff.Command {
		return handoff.Progress{By: by, Epoch: in.Epoch, Note: in.Note, Usage: in.Usage}
	})
}
