package client

import (
	"context"
	"net/http"
)

// Relief is the result of moving work away from an agent.
type Relief struct {
	Agent    string      `json:"agent"`
	Moved    []MovedTask `json:"moved"`
	Kept     []KeptTask  `json:"kept"`           // that stay with the agent, and why
	More     bool        `json:"more,omitempty"` // there is more to move: repeat the call with a new key
	Position uint64      `json:"position"`
}

// MovedTask is a task, or an offer of one, that is offered to other agents.
type MovedTask struct {
	Task    string   `json:"task"`
	Handoff string   `json:"handoff"`
	To      []string `json:"to,omitempty"` // the first that are asked
}

// KeptTask is a task that stays with the agent.
type KeptTask struct {
	Task string `json:"task"`
	Code Code   `json:"code,omitempty"` // of the refusal; empty if no other agent could take it now
	Why  string `json:"why"`
	Hint string `json:"hint,omitempty"` // what to do next
}

func (c *Client) relief(ctx context.Context, in any, segments ...string) (Relief, error) {
	return ask[Relief](ctx, c, http.MethodPost, path(append([]string{"agents"}, segments...)...), nil, in)
}
