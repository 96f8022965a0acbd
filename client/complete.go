package client

import "context"

// CompleteInput completes a task.
type CompleteInput struct {
	Epoch  uint64 `json:"epoch"`
	Result Result `json:"result,omitzero"`
	Usage  Spend  `json:"usage,omitzero"` // since the last report
}

// Complete completes a task with its result.
func (c *Client) Complete(ctx context.Context, task string, in CompleteInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "complete")
}
