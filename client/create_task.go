package client

import (
	"context"
	"encoding/json"
	"time"
)

// CreateInput makes a task. Intent is all it needs.
type CreateInput struct {
	Intent       string          `json:"intent"`
	Content      Content         `json:"content,omitzero"`
	Priority     Priority        `json:"priority,omitempty"`
	Deadline     time.Time       `json:"deadline,omitzero"`
	Timeouts     Timeouts        `json:"timeouts,omitzero"`
	Limits       Limits          `json:"limits,omitzero"`
	Budget       Spend           `json:"budget,omitzero"`
	Constraints  []Constraint    `json:"constraints,omitempty"`
	Permissions  []string        `json:"permissions,omitzero"`   // only narrow from hop to hop; nil: not restricted; empty: none
	Dependencies []string        `json:"dependencies,omitempty"` // ids of tasks that must complete first
	Expected     Expected        `json:"expected,omitzero"`
	Tags         []string        `json:"tags,omitempty"`         // that the policy's rules may ask for
	Subject      string          `json:"subject,omitempty"`      // whom or what the content is about, such as patient/4711, by which it can be erased
	Conversation string          `json:"conversation,omitempty"` // goes along, condensed
	Route        []string        `json:"route,omitempty"`        // agents that the task visits in turn
	Start        bool            `json:"start,omitempty"`        // the calling agent works on it itself
	Send         *SendInput      `json:"send,omitempty"`         // hand it off in the same decision
	Claimed      json.RawMessage `json:"claimed_history,omitempty"`
}

// CreateTask makes a task, and starts it or hands it off in the same decision if the input says so.
func (c *Client) CreateTask(ctx context.Context, in CreateInput) (Receipt, error) {
	return c.receipt(ctx, in, "tasks")
}
