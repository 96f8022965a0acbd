package client

import "context"

// StuckAgentInput reports that an agent is not making progress with any of its tasks.
type StuckAgentInput struct {
	Detail string `json:"detail,omitempty"` // the symptoms
}

// StuckAgent reports that an agent is not making progress: others are asked to take over its tasks, as far as the caller may do so.
func (c *Client) StuckAgent(ctx context.Context, name string, in StuckAgentInput) (Relief, error) {
	return c.relief(ctx, in, name, "stuck")
}
