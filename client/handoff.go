package client

import (
	"encoding/json"
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

// AcceptInput takes an offer. Its zero value takes the newest.
type AcceptInput struct {
	Offer  int  `json:"offer,omitempty"`
	Render bool `json:"render,omitempty"` // also give the envelope as a prompt
}

// Accepted is a receipt and the content that comes with ownership. With an explicit confirm the content comes when the
// source has let go: Content is nil until then, and [Client.Content] gives it.
type Accepted struct {
	Receipt
	Content *Sheet `json:"content,omitempty"`
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

// ContentInput says how content is read. The zero value gives what its receiver gets.
type ContentInput struct {
	Render bool // also as a prompt
	Source bool // what was sent, not what was packed of it for its receiver
	// Majors of the envelope's schema that it is wanted in too.
	Majors []int
}

// Copy is an envelope in one major of its schema.
type Copy struct {
	Major    int             `json:"major"`
	Of       string          `json:"of"` // digest of the envelope that it was converted from
	Envelope json.RawMessage `json:"envelope"`
	Lost     []string        `json:"lost,omitempty"` // fields that its major has no place for
}

// RejectInput turns an offer down.
type RejectInput struct {
	Offer   int       `json:"offer,omitempty"`
	Why     Rejection `json:"why"`
	Missing []string  `json:"missing,omitempty"` // with MissingContext: the fields you would need
	Detail  string    `json:"detail,omitempty"`
}

// ConfirmInput lets go of a task that was accepted.
type ConfirmInput struct {
	Epoch   uint64  `json:"epoch,omitempty"`
	Content Content `json:"content,omitzero"` // last notes
}

// ApproveInput says yes to a supervised handoff or to an ask to take over.
type ApproveInput struct {
	Epoch  uint64 `json:"epoch,omitempty"`  // for an ask
	Digest string `json:"digest,omitempty"` // for a handoff: of the envelope that you looked at
	Detail string `json:"detail,omitempty"`
}

// DenyInput says no.
type DenyInput struct {
	Epoch  uint64 `json:"epoch,omitempty"` // for an ask
	Detail string `json:"detail,omitempty"`
}

// Item is something in an inbox. It previews: the content is fetched by id, or comes with the acceptance.
type Item struct {
	Type     string    `json:"type"` // offer, approval, confirm, takeover, share or question
	ID       string    `json:"id"`   // of the handoff, ask, share or ticket
	Task     string    `json:"task"`
	Offer    int       `json:"offer,omitempty"`
	Epoch    uint64    `json:"epoch,omitempty"`
	From     string    `json:"from"`
	Kind     Kind      `json:"kind,omitempty"`
	Claim    bool      `json:"claim,omitempty"`
	Channel  string    `json:"channel,omitempty"` // that it was published to
	Reason   Reason    `json:"reason,omitempty"`
	Detail   string    `json:"detail,omitempty"` // the first 500 characters
	Intent   string    `json:"intent"`           // the first 500 characters
	Priority Priority  `json:"priority"`
	Envelope string    `json:"envelope,omitempty"` // digest
	Seen     bool      `json:"seen"`
	Since    time.Time `json:"since"`
	Ends     time.Time `json:"ends,omitzero"` // when it goes elsewhere by itself
	Position uint64    `json:"position"`
}

// Inbox is what waits for an agent, highest priority first.
type Inbox struct {
	Items    []Item `json:"items"`
	Position uint64 `json:"position"` // InboxOptions.After of the call that gets what comes next, or was beyond the limit
}

// InboxOptions narrow a look into an inbox. The zero value looks into the caller's own and does not wait.
type InboxOptions struct {
	Agent string        // another's, for operators and auditors
	After uint64        // only what came after this: an earlier answer's Position. If it is too much, the oldest of it
	Limit int           // at most 500; 0 means 10
	Wait  time.Duration // how long to wait for the first item, at most 55s
	Peek  bool          // look without taking note: nothing counts as seen
}

// AuditEntry is one event on record.
type AuditEntry struct {
	Timestamp time.Time       `json:"timestamp"`
	Event     string          `json:"event"`
	Agent     string          `json:"agent"` // who did it; agents by their bare name
	Details   json.RawMessage `json:"details"`
	Position  uint64          `json:"position"`
	For       []string        `json:"for,omitempty"`
}

// Record is a handoff's audit document.
type Record struct {
	HandoffID string       `json:"handoff_id"`
	Task      string       `json:"task_id"`
	Timestamp time.Time    `json:"timestamp"` // of the request
	From      string       `json:"from_agent"`
	To        string       `json:"to_agent,omitempty"`
	Reason    Reason       `json:"reason"`
	Status    Stage        `json:"status"`
	Entries   []AuditEntry `json:"audit_entries"`
}

// Trail is everything on record about a task.
type Trail struct {
	Task     string       `json:"task"`
	Handoffs []Record     `json:"handoffs"`
	Entries  []AuditEntry `json:"entries"`
}

// ExportOptions say what to export.
type ExportOptions struct {
	Task   string // one task; empty: the whole record, for those who may read it
	Format string // jsonl, csv, or for one task json; empty: jsonl
}
