package client

import "context"

// Withdraw takes a handoff under way back.
func (c *Client) Withdraw(ctx context.Context, handoff string, in CancelInput) (Receipt, error) {
	return c.receipt(ctx, in, "handoffs", handoff, "withdraw")
}
