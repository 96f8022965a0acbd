package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Stage is where a handoff is in its life.
type Stage string

// The stages of a handoff. All from StageTransferred on are final.
const (
	StageRequested        Stage = "requested"
	StageAwaitingApproval Stage = "awaiting_approval"
	StageOffered          Stage = "offered"
	StageAccepted         Stage = "accepted"
	StageTransferred      Stage = "transferred"
	StageRejected         Stage = "rejected"
	StageExpired          Stage = "expired"
	StageFailed           Stage = "failed"
	StageParked           Stage = "parked"
	StageCancelled        Stage = "cancelled"
	StageAtDesk           Stage = "at_desk" // nobody but people are left: a ticket is open for them
)

// Stages lists every stage of a handoff.
func Stages() []Stage {
	return []Stage{StageRequested, StageAwaitingApproval, StageOffered, StageAccepted, StageTransferred, StageRejected, StageExpired, StageFailed, StageParked, StageCancelled, StageAtDesk}
}

// Kind is what sort of handoff it is.
type Kind string

// The kinds of handoff.
const (
	Warm       Kind = "warm"       // with its full context
	Cold       Kind = "cold"       // the task's description only
	Supervised Kind = "supervised" // a person or an agent approves before it is offered
	Broadcast  Kind = "broadcast"  // to several: the first to accept wins, or each gets a copy
	Delegation Kind = "delegation" // the sender waits for the result and gets it back
)

// Kinds lists every kind of handoff.
func Kinds() []Kind { return []Kind{Warm, Cold, Supervised, Broadcast, Delegation} }

// Reason says why a task moves.
type Reason string

// The reasons of a handoff.
const (
	ReasonTimeout            Reason = "timeout"
	ReasonError              Reason = "error"
	ReasonCapabilityMismatch Reason = "capability_mismatch"
	ReasonUserRequest        Reason = "user_request"
	ReasonEscalation         Reason = "escalation"
	ReasonSpecialization     Reason = "specialization"
	ReasonRecovery           Reason = "recovery"
	ReasonLoadShedding       Reason = "load_shedding"
	ReasonSupervision        Reason = "supervision"
)

// Reasons lists every reason of a handoff.
func Reasons() []Reason {
	return []Reason{
		ReasonTimeout, ReasonError, ReasonCapabilityMismatch, ReasonUserRequest, ReasonEscalation,
		ReasonSpecialization, ReasonRecovery, ReasonLoadShedding, ReasonSupervision,
	}
}

// Candidate is a receiver that a handoff may be offered to.
type Candidate struct {
	Agent string `json:"agent"`
	Tier  string `json:"tier"`            // target, fallback or escalation
	Desk  string `json:"desk,omitempty"`  // of people, and no agent: the handoff ends there with a ticket
	Level int    `json:"level,omitempty"` // its place in an escalation chain, from 1
	Human bool   `json:"human,omitempty"` // a person: no clock for acknowledgment or signs of life runs, but that for answers
}

// Tiers lists the values of [Candidate].Tier, in the order in which they are tried.
func Tiers() []string { return []string{"target", "fallback", "escalation"} }

// Handoff is one attempt to move a task.
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
	To           []string    `json:"to,omitempty"`    // receivers of the open offer; in a document also who accepted, had the newest offer, or will get the first
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

// Handoff shows how a handoff stands.
func (c *Client) Handoff(ctx context.Context, id string) (Handoff, error) {
	return ask[Handoff](ctx, c, http.MethodGet, path("handoffs", id), nil, nil)
}

// HandoffDocument is all that is recorded of a handoff.
type HandoffDocument struct {
	Handoff
	Priority     Priority        `json:"priority"`
	Timeout      int             `json:"timeout_seconds"`        // for the answer to an offer that was seen
	Dependencies []string        `json:"dependencies"`           // ids of tasks
	Context      json.RawMessage `json:"task_context,omitempty"` // its envelope; nil if the caller may not read it
	Given        string          `json:"given,omitempty"`        // digest of what was packed of that for the receiver of the newest offer
	Entries      []AuditEntry    `json:"audit_entries"`
}

// HandoffDocument gives all that is recorded of a handoff, also of one that is over. The read is recorded.
func (c *Client) HandoffDocument(ctx context.Context, id string) (HandoffDocument, error) {
	return ask[HandoffDocument](ctx, c, http.MethodGet, path("handoffs", id, "document"), nil, nil)
}
