package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Candidate is a receiver that a handoff may be offered to.
type Candidate struct {
	Agent string `json:"agent"`
	Tier  string `json:"tier"`            // target, fallback or escalation
	Desk  string `json:"desk,omitempty"`  // of people, and no agent: the handoff ends there with a ticket
	Level int    `json:"level,omitempty"` // its place in an escalation chain, from 1
	Human bool   `json:"human,omitempty"` // a person: no clock for acknowledgment or signs of life runs, but that for answers
}

// Handoff is one attempt to move a task. Of those before the newest only what the trail says in short is there.
type Handoff struct {
	ID           string      `json:"id"`
	Task         string      `json:"task"`
	Stage        Stage       `json:"stage"`
	Kind         Kind        `json:"kind,omitempty"`
	Claim        bool        `json:"claim,omitempty"` // offered to all at once; the first to accept wins
	From         string      `json:"from"`
	By           string      `json:"by,omitempty"` // the principal that asked for it
	Recovery     bool        `json:"recovery,omitempty"`
	Reason       Reason      `json:"reason"`
	Detail       string      `json:"detail,omitempty"`
	Capability   string      `json:"capability,omitempty"`
	Channel      string      `json:"channel,omitempty"` // that it was published to
	Confirm      ConfirmMode `json:"confirm,omitempty"`
	Timeouts     Timeouts    `json:"timeouts,omitzero"`
	Retries      int         `json:"retries,omitempty"`
	ReturnHome   bool        `json:"return_home,omitempty"`
	Approver     string      `json:"approver,omitempty"`
	Envelope     string      `json:"envelope,omitempty"` // digest
	Permissions  []string    `json:"permissions,omitzero"`
	Requested    time.Time   `json:"requested"`
	Candidates   []Candidate `json:"candidates,omitempty"`
	Offer        int         `json:"offer,omitempty"` // number of the newest
	To           []string    `json:"to,omitempty"`    // receivers of the newest offer
	SeenBy       []string    `json:"seen_by,omitempty"`
	OfferEnds    time.Time   `json:"offer_ends,omitzero"`
	AckEnds      time.Time   `json:"ack_ends,omitzero"`
	RetryAt      time.Time   `json:"retry_at,omitzero"`
	ApprovalEnds time.Time   `json:"approval_ends,omitzero"`
	ConfirmEnds  time.Time   `json:"confirm_ends,omitzero"`
	Receiver     string      `json:"receiver,omitempty"` // who accepted
	Why          string      `json:"why,omitempty"`      // how it ended
	Ended        time.Time   `json:"ended,omitzero"`
	Decision     *Decision   `json:"decision,omitempty"` // of a handoff to Auto: what the policy made of it; [Client.Handoff] alone has it
}

// Sheet is an envelope as its receiver reads it.
type Sheet struct {
	Digest string `json:"digest"`
	// Source is the digest of what was sent, where this was packed for its receiver. What it lists as left out stands
	// there: see [ContentInput].
	Source   string          `json:"source,omitempty"`
	Envelope json.RawMessage `json:"envelope"`
	Prompt   string          `json:"prompt,omitempty"`
	Copies   []Copy          `json:"copies,omitempty"` // in the majors that were asked for
}

// Copy is an envelope in one major of its schema.
type Copy struct {
	Major    int             `json:"major"`
	Of       string          `json:"of"` // digest of the envelope that it was converted from
	Envelope json.RawMessage `json:"envelope"`
	Lost     []string        `json:"lost,omitempty"` // fields that its major has no place for
}

// Handoff shows how a handoff stands.
func (c *Client) Handoff(ctx context.Context, id string) (Handoff, error) {
	return ask[Handoff](ctx, c, http.MethodGet, path("handoffs", id), nil, nil)
}
