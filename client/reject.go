package client

import "context"

// Rejection is why a receiver does not take an offer.
type Rejection string

// The typed rejections.
const (
	NotCapable     Rejection = "not_capable"
	Overloaded     Rejection = "overloaded"
	MissingContext Rejection = "missing_context" // say which fields are missing
	Refused        Rejection = "refused"
)

// Rejections lists every rejection.
func Rejections() []Rejection { return []Rejection{NotCapable, Overloaded, MissingContext, Refused} }

// RejectInput rejects an offer.
type RejectInput struct {
	Offer   int       `json:"offer,omitempty"`
	Reason  Rejection `json:"reason"`
	Missing []string  `json:"missing,omitempty"` // with MissingContext: the fields you would need
	Detail  string    `json:"detail,omitempty"`
}

// Reject rejects an offer. It goes to the next candidate, or back to its source.
func (c *Client) Reject(ctx context.Context, handoff string, in RejectInput) (Receipt, error) {
	return c.receipt(ctx, in, "handoffs", handoff, "reject")
}
