package tasks

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// ListCounts counts the tasks on all pages of a list, by state. It goes with a page of [Tasks.List], which is recorded as a read.
func (ts *Tasks) ListCounts(ctx context.Context, c caller.Caller, in TasksInput) (map[event.State]int, error) {
	f, err := ts.visible(ctx, c, in)
	if err != nil {
		return nil, err
	}
	counts, err := ts.views.StateCounts(ctx, c.Workspace, f)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	return counts, nil
}
