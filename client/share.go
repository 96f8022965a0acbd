package client

import "context"

// ShareInput gives a task's context to another agent without moving the task.
type ShareInput struct {
	Epoch   uint64  `json:"epoch,omitempty"`
	To      string  `json:"to"`
	Detail  string  `json:"detail,omitempty"`
	Content Content `json:"content,omitzero"`
	Pack    Pack    `json:"pack,omitzero"`
}

// Share gives a task's context to another agent. Ownership stays where it is.
func (c *Client) Share(ctx context.Context, task string, in ShareInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "share")
}
