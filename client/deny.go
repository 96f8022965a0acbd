package client

import "context"

// DenyInput denies a supervised handoff, a ticket, or an ask to take over.
type DenyInput struct {
	Epoch  uint64 `json:"epoch,omitempty"` // for an ask
	Detail string `json:"detail,omitempty"`
}

// Deny denies a supervised handoff, a ticket, or an ask to take over. The id says which.
func (c *Client) Deny(ctx context.Context, id string, in DenyInput) (Receipt, error) {
	return c.receipt(ctx, in, answers(id), id, "deny")
}
