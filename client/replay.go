package client

import (
	"context"
	"time"
)

// ReplayInput revives a task from the dead letters. Its zero value sends it to those it was meant for.
type ReplayInput struct {
	To         []string  `json:"to,omitempty"`
	Capability string    `json:"capability,omitempty"`
	Route      []string  `json:"route,omitzero"` // nil: as it is; empty: none
	Deadline   time.Time `json:"deadline,omitzero"`
	Note       string    `json:"note,omitempty"`
	Budget     Spend     `json:"budget,omitzero"`  // replaces the amounts that are set
	Home       bool      `json:"home,omitempty"`   // back to its owner instead of to a receiver
	Content    Content   `json:"content,omitzero"` // beside what the failed handoff had, such as an ask in place of a long one
	Kind       Kind      `json:"kind,omitempty"`   // [Warm], [Cold] or [Supervised]; empty: as it was, or for other receivers warm, if it was not cold
}

// Replay revives a task from the dead letters with fresh limits.
func (c *Client) Replay(ctx context.Context, task string, in ReplayInput) (Receipt, error) {
	return c.receipt(ctx, in, "dead", task, "replay")
}
