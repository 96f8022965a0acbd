package client

import "context"

// FailInput ends a task as failed.
type FailInput struct {
	Epoch  uint64 `json:"epoch"`
	Detail string `json:"detail"`
	Result Result `json:"result,omitzero"`
	Usage  Spend  `json:"usage,omitzero"` // since the last report
}

// Fail ends a task as failed.
func (c *Client) Fail(ctx context.Context, task string, in FailInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "fail")
}
