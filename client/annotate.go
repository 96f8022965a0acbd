package client

import "context"

// AnnotateInput corrects or comments on an earlier entry, which stays as it is.
type AnnotateInput struct {
	Entry uint64 `json:"entry"` // its position
	Note  string `json:"note"`
}

// Annotate corrects or comments on an earlier entry of a task.
func (c *Client) Annotate(ctx context.Context, task string, in AnnotateInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "annotations")
}
