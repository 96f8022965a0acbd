package client

import "context"

// HeartbeatInput shows that the owner is alive.
type HeartbeatInput struct {
	Epoch uint64 `json:"epoch"`
}

// Heartbeat shows that the owner is alive, and renews its lease. The receipt's Lease says until when.
func (c *Client) Heartbeat(ctx context.Context, task string, epoch uint64) (Receipt, error) {
	return c.receipt(ctx, HeartbeatInput{Epoch: epoch}, "tasks", task, "heartbeat")
}
