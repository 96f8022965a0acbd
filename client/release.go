package client

import "context"

// ReleaseInput returns a claimed ticket to its desk. Epoch is needed for a task that was taken over.
type ReleaseInput struct {
	Epoch  uint64 `json:"epoch,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Release returns a claimed ticket to its desk.
func (c *Client) Release(ctx context.Context, ticket string, in ReleaseInput) (Receipt, error) {
	return c.receipt(ctx, in, "tickets", ticket, "release")
}
