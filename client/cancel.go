package client

import "context"

// Cancel calls a task off, children included.
func (c *Client) Cancel(ctx context.Context, task string, in CancelInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "cancel")
}
