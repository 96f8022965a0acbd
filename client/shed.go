package client

import "context"

// ShedInput moves offers that wait for an agent to others.
type ShedInput struct {
	Keep int `json:"keep,omitempty"` // how many offers stay: those of the highest priority
}

// Shed moves offers that wait for an agent to others that have capacity.
func (c *Client) Shed(ctx context.Context, name string, in ShedInput) (Relief, error) {
	return c.relief(ctx, in, name, "shed")
}
