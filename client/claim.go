package client

import "context"

// ClaimInput takes a ticket on.
type ClaimInput struct{}

// Claim takes a ticket on, so that others leave it alone. The task of a takeover becomes the claimant's.
func (c *Client) Claim(ctx context.Context, ticket string) (Receipt, error) {
	return c.receipt(ctx, ClaimInput{}, "tickets", ticket, "claim")
}
