package client

import (
	"context"
	"net/http"
	"time"
)

// Receipt is the answer to a call that changes a task: the state of the task after it, and its position in the record.
type Receipt struct {
	Task     string   `json:"task"`
	State    State    `json:"state"`
	Owner    string   `json:"owner,omitempty"`
	Epoch    uint64   `json:"epoch"`
	Handoff  string   `json:"handoff,omitempty"` // id of the newest handoff
	Stage    Stage    `json:"stage,omitempty"`
	Offer    int      `json:"offer,omitempty"`
	To       []string `json:"to,omitempty"` // receivers of the open offer
	Children []string `json:"children,omitempty"`
	// NotReached are the agents that should have got one of the children, and why they could not be reached.
	NotReached map[string]string `json:"not_reached,omitempty"`
	Takeover   string            `json:"ask,omitempty"`    // id of the request to take over that the call made
	Share      string            `json:"share,omitempty"`  // id of the shared envelope that the call made
	Ticket     string            `json:"ticket,omitempty"` // id of the ticket that the call opened or is about
	Envelope   string            `json:"envelope,omitempty"`
	Given      string            `json:"given,omitempty"`  // digest of what the owner was given: that envelope, or what was packed of it
	Sealed     *Sealed           `json:"sealed,omitempty"` // what the call put into an envelope for the next owner
	Lease      time.Time         `json:"lease,omitzero"`
	Parked     *ParkedFor        `json:"parked,omitempty"`
	Decision   *Decision         `json:"decision,omitempty"` // of a handoff to Auto
	Position   uint64            `json:"position"`
	Events     []string          `json:"events"`           // that this call recorded; none if nothing had to change
	Repeat     bool              `json:"repeat,omitempty"` // this is the answer to the first call with the same key
}

// Sealed is what a call put into an envelope for the next owner, in figures.
type Sealed struct {
	Version    string   `json:"version"`              // of the envelope's schema
	References []string `json:"references,omitempty"` // ids of the memory items and digests of the files that go along
	// Tokens is what the prompt of the receiver has, of Budget (0: no limit), by the tokenizer of the receiver; of several receivers the most. 0 if
	// they were not counted: then Uncounted says why. What changes before the receiver accepts, such as a new constraint, is not in it.
	Tokens       int               `json:"tokens,omitempty"`
	Budget       int               `json:"budget,omitempty"`
	Estimate     bool              `json:"estimate,omitempty"` // Tokens is an upper bound or, if each child gets an envelope of its own, about what it has
	Uncounted    string            `json:"uncounted,omitempty"`
	Completeness float64           `json:"completeness"`       // references resolved by references requested, 0 to 1; of several receivers the least
	Missing      map[string]string `json:"missing,omitempty"`  // ids of the references that were not resolved, each with the reason: not_found, forgotten or not_readable; and, as fact:ID and decision:ID, the facts and decisions that the same content replaced: replaced
	Omitted      int               `json:"omitted,omitempty"`  // parts that were left out for want of tokens
	LeftOut      map[string]int    `json:"left_out,omitempty"` // what was given with a handoff that is cold, by kind, such as facts: no receiver gets it
}

// receipt makes a call that changes a task.
func (c *Client) receipt(ctx context.Context, in any, segments ...string) (Receipt, error) {
	return ask[Receipt](ctx, c, http.MethodPost, path(segments...), nil, in)
}
