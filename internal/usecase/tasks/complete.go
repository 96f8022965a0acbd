package tasks

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// CompleteInput finishes a task.
type CompleteInput struct {
	Task   string       `json:"task,omitempty" doc:"Id of the task."`
	Epoch  uint64       `json:"epoch" doc:"The task's epoch as you know it."`
	Result event.Result `json:"result,omitzero"`
	Usage  event.Budget `json:"usage,omitzero" doc:"What it cost since the last report."`
}

// Complete finishes a task with its result. A result that is not as the task expects is refused, with what is wrong, so
// that the owner can fix it and complete the task again.
func (ts *Tasks) Complete(ctx context.Context, c caller.Caller, in CompleteInput) (taskstore.Receipt, error) {
	cmd := handoff.Complete{By: c.Principal, Epoch: in.Epoch, Result: in.Result, Usage: in.Usage}
	return ts.store.ChangeWith(ctx, c, "complete", in.Task, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		if len(t.Expected.Schema) > 0 {
			leave, err := ts.work.Enter(ctx, c)
			if err != nil {
				return nil, err
			}
			defer leave()
		}
		return ts.decideComplete(t, cmd, now)
	})
}

// decideComplete finishes a task if the result is what was expected. What only a judge can check goes along with the
// result. A caller who may not finish the task is told that, and nothing about the result.
func (ts *Tasks) decideComplete(t task.Task, cmd handoff.Complete, now time.Time) ([]event.Event, error) {
	cmd.Result.Review = nil
	events, err := handoff.Decide(t, cmd, now)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	review, err := ts.expect.Check(t.Expected, cmd.Result)
	if err != nil || len(review) == 0 {
		return events, err
	}
	cmd.Result.Review = review
	return handoff.Decide(t, cmd, now)
}
