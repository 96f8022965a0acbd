package client

import "context"

// ConstrainInput adds a constraint, or tightens one.
type ConstrainInput struct {
	Epoch      uint64     `json:"epoch,omitempty"`
	Constraint Constraint `json:"constraint"`
}

// Constrain adds a constraint, or tightens one.
func (c *Client) Constrain(ctx context.Context, task string, in ConstrainInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "constraints")
}
