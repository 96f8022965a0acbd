package client

import "context"

// Start makes the calling agent the owner of its own pending task.
func (c *Client) Start(ctx context.Context, task string) (Receipt, error) {
	return c.receipt(ctx, nil, "tasks", task, "start")
}
