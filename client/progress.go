package client

import "context"

// ProgressInput reports what the owner has done.
type ProgressInput struct {
	Epoch uint64 `json:"epoch"`
	Note  string `json:"note,omitempty"` // may be empty with Usage
	Usage Spend  `json:"usage,omitzero"` // since the last report
}

// Progress reports what the owner has done, and renews its lease.
func (c *Client) Progress(ctx context.Context, task string, in ProgressInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "progress")
}
