package client

import "context"

// Send asks to hand a task to others and returns at once. The inbox, the task and the events say what comes of it.
func (c *Client) Send(ctx context.Context, task string, in SendInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "send")
}
