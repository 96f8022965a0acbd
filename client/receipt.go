package client

import (
	"context"
	"net/http"
	"time"
)

// Receipt is the answer to a call that changes a task: the state of the task after it, and its position in the record.
type Receipt struct {
	Task     string     `json:"task"`
	State    State      `json:"state"`
	Owner    string     `json:"owner,omitempty"`
	Epoch    uint64     `json:"epoch"`
	Handoff  string     `json:"handoff,omitempty"` // id of the newest handoff
	Stage    Stage      `json:"stage,omitempty"`
	Offer    int        `json:"offer,omitempty"`
	To       []string   `json:"to,omitempty"` // receivers of the open offer
	Children []string   `json:"children,omitempty"`
	Ask      string     `json:"ask,omitempty"`    // id of the ask to take over that the call made
	Share    string     `json:"share,omitempty"`  // id of the shared envelope that the call made
	Ticket   string     `json:"ticket,omitempty"` // id of the ticket that the call opened or is about
	Envelope string     `json:"envelope,omitempty"`
	Given    string     `json:"given,omitempty"` // digest of what the owner was given: that envelope, or what was packed of it
	Lease    time.Time  `json:"lease,omitzero"`
	Parked   *ParkedFor `json:"parked,omitempty"`
	Decision *Decision  `json:"decision,omitempty"` // of a handoff to Auto
	Position uint64     `json:"position"`
	Events   []string   `json:"events"`           // that this call recorded; none if nothing had to change
	Repeat   bool       `json:"repeat,omitempty"` // this is the answer to the first call with the same key
}

// receipt makes a call that changes a task.
func (c *Client) receipt(ctx context.Context, in any, segments ...string) (Receipt, error) {
	return ask[Receipt](ctx, c, http.MethodPost, path(segments...), nil, in)
}
