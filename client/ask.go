package client

import "context"

// AskInput asks people a question, as the task's owner.
type AskInput struct {
	Epoch    uint64   `json:"epoch,omitempty"`
	Question string   `json:"question"`
	Options  []string `json:"options,omitempty"` // if there are any, the answer must be one of them
	Desk     string   `json:"desk,omitempty"`    // that is asked; the operators if empty
	To       string   `json:"to,omitempty"`      // one agent or person by name
	Within   Duration `json:"within,omitempty"`  // how long each desk has
}

// Ask asks people a question and does not wait; the receipt's Ticket is its id. The task waits for the answer.
func (c *Client) Ask(ctx context.Context, task string, in AskInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "ask")
}
