package client

import "context"

// EscalateInput escalates a task. Without To it goes one level up the owner's escalation chain from where the task stands.
type EscalateInput struct {
	Epoch   uint64  `json:"epoch,omitempty"`
	To      string  `json:"to,omitempty"`
	Detail  string  `json:"detail,omitempty"`
	Content Content `json:"content,omitzero"`
}

// Escalate hands a task up the escalation chain, because its owner cannot do it.
func (c *Client) Escalate(ctx context.Context, task string, in EscalateInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "escalate")
}
