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

// ReleaseInput gives a claimed ticket back.
type ReleaseInput struct {
	ID     string `json:"id,omitempty" doc:"Of the ticket."`
	Epoch  uint64 `json:"epoch,omitempty" doc:"Of a task that you have taken over: its epoch as you know it."`
	Detail string `json:"detail,omitempty" doc:"Why, or what is done already."`
}

// Release gives a claimed ticket back to its desk. A task that was taken over waits there again.
func (ts *Tickets) Release(ctx context.Context, c caller.Caller, in ReleaseInput) (taskstore.Receipt, error) {
	return ts.act(ctx, c, "release", in.ID, in, func(t task.Task, n int, _ desk.Reader, now time.Time) ([]event.Event, error) {
		return handoff.Decide(t, handoff.Release{By: c.Principal, Epoch: in.Epoch, Ticket: n, Detail: in.Detail}, now)
	})
}
