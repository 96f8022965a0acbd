package client

import (
	"context"
	"strings"
)

// ApproveInput approves a supervised handoff or a takeover request.
type ApproveInput struct {
	Epoch  uint64 `json:"epoch,omitempty"`  // for a takeover request
	Digest string `json:"digest,omitempty"` // for a handoff: of the envelope that you looked at
	Detail string `json:"detail,omitempty"` // why; the receiver reads it
}

// Approve approves a supervised handoff, by its id or its ticket's, or a takeover request. The id says which.
func (c *Client) Approve(ctx context.Context, id string, in ApproveInput) (Receipt, error) {
	return c.receipt(ctx, in, answers(id), id, "approve")
}

// answers is where an id that can be approved or denied belongs.
func answers(id string) string {
	switch {
	case strings.Contains(id, ".t"):
		return "asks"
	case strings.Contains(id, ".k"):
		return "tickets"
	}
	return "handoffs"
}
