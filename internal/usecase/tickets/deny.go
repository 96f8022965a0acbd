package tickets

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/handoff/ticketverb"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// DenyInput says no to a ticket.
type DenyInput struct {
	ID     string `json:"id,omitempty"`
	Epoch  uint64 `json:"epoch,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Deny says no to a ticket: an approval is denied, a question gets no answer, nobody of the desk takes a task over. From
// the principal that asked, it takes the question or the task back.
func (ts *Tickets) Deny(ctx context.Context, c caller.Caller, in DenyInput) (taskstore.Receipt, error) {
	return ts.act(ctx, c, "deny", in.ID, in, func(t task.Task, n int, s desk.Reader, now time.Time) ([]event.Event, error) {
		return handoff.Decide(t, ticketverb.Denial(t, readerOf(c, s), n, in.Epoch, in.Detail), now)
	})
}
