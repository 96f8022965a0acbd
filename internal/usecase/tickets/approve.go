package tickets

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Approve approves the handoff that a ticket is about: approve decides it, on the task and the number of the handoff. The body of the call is in.
func (ts *Tickets) Approve(ctx context.Context, c caller.Caller, id string, in any,
	approve func(t task.Task, handoff int, now time.Time) ([]event.Event, error),
) (taskstore.Receipt, error) {
	return ts.act(ctx, c, "approve", id, in, func(t task.Task, n int, _ desk.Reader, now time.Time) ([]event.Event, error) {
		of, err := handoff.ToApprove(t, n)
		if err != nil {
			return nil, err
		}
		return approve(t, of, now)
	})
}
