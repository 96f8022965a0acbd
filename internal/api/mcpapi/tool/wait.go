package tool

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
)

// WaitTicket reads a ticket, and waits at most so many seconds for its end.
func (c *Call) WaitTicket(ctx context.Context, id string, seconds int) (client.Ticket, error) {
	return liveness.WaitThroughRestart(ctx, c.Waits, seconds, func(ctx context.Context, wait time.Duration) (client.Ticket, error) {
		return c.Ticket(ctx, id, wait)
	})
}

// WaitTaskAfter reads a task, and waits at most so many seconds for a change of it after a position.
func (c *Call) WaitTaskAfter(ctx context.Context, id string, after uint64, seconds int) (client.Task, error) {
	return liveness.WaitThroughRestart(ctx, c.Waits, seconds, func(ctx context.Context, wait time.Duration) (client.Task, error) {
		return c.WaitTask(ctx, id, after, wait)
	})
}
