package client

import "context"

// EscalateInput hands a task upwards. Without To it goes one level up the owner's escalation chain from where the task stands.
type EscalateInput struct {
	Epoch   uint64  `json:"epoch,omitempty"`
	To      string  `json:"to,omitempty"`
	Detail  string  `json:"detail,omitempty"`
	Content Content `json:"content,omitzero"`
}

// Escalate hands a task upwards because it is beyond its holder.
func (c *Client) Escalate(ctx context.Context, task string, in EscalateInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "escalate")
}
