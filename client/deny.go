package client

import "context"

// DenyInput denies a supervised handoff, a ticket, or a takeover request.
type DenyInput struct {
	Epoch  uint64 `json:"epoch,omitempty"` // for a takeover request
	Detail string `json:"detail,omitempty"`
}

// Deny denies a supervised handoff, a ticket, or a takeover request. The id says which.
func (c *Client) Deny(ctx context.Context, id string, in DenyInput) (Receipt, error) {
	return c.receipt(ctx, in, answers(id), id, "deny")
}
