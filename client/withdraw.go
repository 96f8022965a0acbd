package client

import "context"

// Withdraw withdraws a handoff under way.
func (c *Client) Withdraw(ctx context.Context, handoff string, in CancelInput) (Receipt, error) {
	return c.receipt(ctx, in, "handoffs", handoff, "withdraw")
}
