package client

import "context"

// DiscardInput gives a dead letter up.
type DiscardInput struct {
	Why string `json:"why"`
}

// Discard gives a task in the dead letters up, for a reason.
func (c *Client) Discard(ctx context.Context, task, why string) (Receipt, error) {
	return c.receipt(ctx, DiscardInput{Why: why}, "dead", task, "discard")
}
