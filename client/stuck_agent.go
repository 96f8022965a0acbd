package client

import "context"

// StuckAgentInput says that an agent gets nowhere, with all that it holds.
type StuckAgentInput struct {
	Detail string `json:"detail,omitempty"` // how one can tell
}

// StuckAgent says that an agent gets nowhere: others are asked to take over what it holds, as far as the caller may say so.
func (c *Client) StuckAgent(ctx context.Context, name string, in StuckAgentInput) (Relief, error) {
	return c.relief(ctx, in, name, "stuck")
}
