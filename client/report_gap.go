package client

import "context"

// GapInput names the missing parts of the context.
type GapInput struct {
	Epoch   uint64   `json:"epoch"`
	Missing []string `json:"missing"`
	Detail  string   `json:"detail,omitempty"`
	Usage   Spend    `json:"usage,omitzero"`
}

// ReportGap records that the context of a task lacks something. Its owner goes on working, with its lease renewed.
func (c *Client) ReportGap(ctx context.Context, task string, in GapInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "gap")
}
