package client

import "context"

// ReleaseInput gives a claimed ticket back. Epoch is needed for a task that was taken over.
type ReleaseInput struct {
	Epoch  uint64 `json:"epoch,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Release gives a claimed ticket back to its desk.
func (c *Client) Release(ctx context.Context, ticket string, in ReleaseInput) (Receipt, error) {
	return c.receipt(ctx, in, "tickets", ticket, "release")
}
