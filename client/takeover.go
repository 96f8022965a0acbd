package client

import "context"

// TakeoverInput asks for a task. Agents ask for themselves; operators say who is to have it.
type TakeoverInput struct {
	To      string  `json:"to,omitempty"`
	From    string  `json:"from,omitempty"` // its owner as the caller knows it; if it has another, the call is refused
	Detail  string  `json:"detail,omitempty"`
	Content Content `json:"content,omitzero"` // for operators: beside what the task has, such as an ask in place of a long one
}

// Takeover asks for a task. An agent gets it at once if its owner is lost; otherwise the owner is asked. An operator takes it from its owner and offers it to an agent.
func (c *Client) Takeover(ctx context.Context, task string, in TakeoverInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks", task, "takeover")
}
