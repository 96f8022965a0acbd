package client

import "context"

// ShedInput asks that offers which wait for an agent go to others.
type ShedInput struct {
	Keep int `json:"keep,omitempty"` // how many stay: those of the highest priority
}

// Shed moves offers that wait for an agent to others that have room.
func (c *Client) Shed(ctx context.Context, name string, in ShedInput) (Relief, error) {
	return c.relief(ctx, in, name, "shed")
}
