package client

import "context"

// ConfirmMode says whether the source confirms a handoff after the receiver has accepted.
type ConfirmMode string

// The confirm modes.
const (
	ConfirmAuto     ConfirmMode = "auto"     // acceptance confirms by itself
	ConfirmExplicit ConfirmMode = "explicit" // the source confirms with a call of its own
)

// ConfirmModes lists every confirm mode.
func ConfirmModes() []ConfirmMode { return []ConfirmMode{ConfirmAuto, ConfirmExplicit} }

// ConfirmInput confirms an accepted handoff.
type ConfirmInput struct {
	Epoch   uint64  `json:"epoch,omitempty"`
	Content Content `json:"content,omitzero"` // last notes
}

// Confirm confirms an accepted handoff with explicit confirm, as its source. The task moves to the receiver.
func (c *Client) Confirm(ctx context.Context, handoff string, in ConfirmInput) (Receipt, error) {
	return c.receipt(ctx, in, "handoffs", handoff, "confirm")
}
