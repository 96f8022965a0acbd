package tasks

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// FailInput ends a task as not done.
type FailInput struct {
	Task   string       `json:"task,omitempty" doc:"Id of the task."`
	Epoch  uint64       `json:"epoch" doc:"The task's epoch as you know it."`
	Detail string       `json:"detail" doc:"What went wrong." minLength:"1"`
	Result event.Result `json:"result,omitzero" doc:"What there is of a result."`
	Usage  event.Budget `json:"usage,omitzero" doc:"What it cost since the last report."`
}

// Fail ends a task as not done.
func (ts *Tasks) Fail(ctx context.Context, c caller.Caller, in FailInput) (taskstore.Receipt, error) {
	return ts.owned(ctx, c, "fail", in.Task, in, func(by identity.Principal) handoff.Command {
		return handoff.Fail{By: by, Epoch: in.Epoch, Detail: in.Detail, Result: in.Result, Usage: in.Usage}
	})
}
