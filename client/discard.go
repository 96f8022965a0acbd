package client

import "context"

// DiscardInput discards a dead letter.
type DiscardInput struct {
	Why string `json:"why"`
}

// Discard discards a task in the dead letters, for a reason.
func (c *Client) Discard(ctx context.Context, task, why string) (Receipt, error) {
	return c.receipt(ctx, DiscardInput{Why: why}, "dead", task, "discard")
}
