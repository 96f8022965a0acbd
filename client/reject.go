package client

import "context"

// RejectInput turns an offer down.
type RejectInput struct {
	Offer   int       `json:"offer,omitempty"`
	Why     Rejection `json:"why"`
	Missing []string  `json:"missing,omitempty"` // with MissingContext: the fields you would need
	Detail  string    `json:"detail,omitempty"`
}

// Reject turns an offer down. It goes to the next candidate, or back to its source.
func (c *Client) Reject(ctx context.Context, handoff string, in RejectInput) (Receipt, error) {
	return c.receipt(ctx, in, "handoffs", handoff, "reject")
}
