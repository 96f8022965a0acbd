package tasks

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// AnnotateInput corrects or comments on an entry.
type AnnotateInput struct {
	Task  string `json:"task,omitempty" doc:"Id of the task."`
	Entry uint64 `json:"entry" minimum:"1" doc:"Position of the entry."`
	Note  string `json:"note" minLength:"1" doc:"What there is to say about it."`
}

// Annotate corrects or comments on an earlier entry of a task, which stays as it is.
func (ts *Tasks) Annotate(ctx context.Context, c caller.Caller, in AnnotateInput) (taskstore.Receipt, error) {
	return ts.store.ChangeWith(ctx, c, "annotate", in.Task, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		at := ledger.Position(max(in.Entry, 1))
		found, err := ts.ledger.Stream(ctx, taskstore.StreamOf(c.Workspace, in.Task), at-1, 1)
		if err != nil {
			return nil, stream.Unavailable(err)
		}
		if in.Entry > 0 && (len(found) == 0 || found[0].Position != at) {
			return nil, refusal.New(refusal.NotFound, "look at [the trail of the task](audit show) for its entries", "task %s has no entry %d", t.ID, in.Entry)
		}
		return handoff.Decide(t, handoff.Annotate{By: c.Principal, Entry: in.Entry, Note: in.Note}, now)
	})
}
