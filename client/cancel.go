package client

import "context"

// CancelInput cancels a task, or withdraws a handoff.
type CancelInput struct {
	Epoch  uint64 `json:"epoch,omitempty"` // 0, for a task: whatever it is now
	Detail string `json:"detail,omitempty"`
}

// Cancel cancels a task and its children.
func (c *Client) Cancel(ctx context.Context, task string, in CancelInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "cancel")
}
