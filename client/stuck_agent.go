package client

import "context"

// StuckAgentInput says that an agent makes no progress on its tasks.
type StuckAgentInput struct {
	Detail string `json:"detail,omitempty"` // the evidence
}

// StuckAgent says that an agent makes no progress: others are asked to take over the tasks that it owns, as far as the caller may.
func (c *Client) StuckAgent(ctx context.Context, name string, in StuckAgentInput) (Relief, error) {
	return c.relief(ctx, in, name, "stuck")
}
