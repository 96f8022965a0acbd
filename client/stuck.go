package client

import "context"

// StuckInput says that a task's owner makes no progress.
type StuckInput struct {
	Owner  string `json:"owner,omitempty"`  // as you know it; if it has another, the call is refused
	Detail string `json:"detail,omitempty"` // the evidence
}

// Stuck says that the task's owner makes no progress: others are asked to take it over at once, with what it has reported. It is
// for the task's requester, who owns a task that it works for, and operators.
func (c *Client) Stuck(ctx context.Context, task string, in StuckInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "stuck")
}
