package client

import (
	"context"
	"net/http"
)

// HeartbeatInput is a sign of life of the owner.
type HeartbeatInput struct {
	Epoch uint64 `json:"epoch"`
	Told  bool   `json:"told,omitempty"` // the owner has what it waited for; its inbox drops the item resumed
}

// Heartbeat is a sign of life of the owner, and renews its lease. The receipt's Lease says until when.
func (c *Client) Heartbeat(ctx context.Context, task string, epoch uint64) (Receipt, error) {
	return c.receipt(ctx, HeartbeatInput{Epoch: epoch}, "tasks", task, "heartbeat")
}

// Told is a heartbeat of an owner that has what it waited for, such as the answer to its question: its inbox drops the item resumed.
func (c *Client) Told(ctx context.Context, task string, epoch uint64) (Receipt, error) {
	return c.receipt(ctx, HeartbeatInput{Epoch: epoch, Told: true}, "tasks", task, "heartbeat")
}

// Beat is a sign of life of the calling agent. Waiting for its inbox is one too.
func (c *Client) Beat(ctx context.Context) error {
	return c.do(ctx, http.MethodPost, path("presence"), nil, nil, nil)
}
