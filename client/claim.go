package client

import "context"

// ClaimInput claims a ticket.
type ClaimInput struct{}

// Claim claims a ticket for the caller. The task of a takeover becomes the claimant's.
func (c *Client) Claim(ctx context.Context, ticket string) (Receipt, error) {
	return c.receipt(ctx, ClaimInput{}, "tickets", ticket, "claim")
}
