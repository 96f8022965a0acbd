package client

import "context"

// ConfirmInput lets go of a task that was accepted.
type ConfirmInput struct {
	Epoch   uint64  `json:"epoch,omitempty"`
	Content Content `json:"content,omitzero"` // last notes
}

// Confirm lets go of a task that was accepted, as the source of a handoff with explicit confirm.
func (c *Client) Confirm(ctx context.Context, handoff string, in ConfirmInput) (Receipt, error) {
	return c.receipt(ctx, in, "handoffs", handoff, "confirm")
}
