package client

import "context"

// StuckInput reports that a task's owner is not making progress.
type StuckInput struct {
	Owner  string `json:"owner,omitempty"`  // as the caller knows it; if it has another, the call is refused
	Detail string `json:"detail,omitempty"` // the symptoms
}

// Stuck reports that a task's owner is not making progress: others are asked at once to take it over, with its progress so far. It is for the task's requester, who owns a task that it works for, and operators.
func (c *Client) Stuck(ctx context.Context, task string, in StuckInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "stuck")
}
