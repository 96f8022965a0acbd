package task

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Handoff is one attempt to move the task. A retry or a fallback is a new offer of the same handoff. What is true or not is in one place: elsewhere each takes eight bytes.
type Handoff struct {
	N          int
	Kind       event.Kind
	Stage      event.Stage
	From       string // the agent or principal that gives the task up
	By         string // the principal that asked for it
	Ticket     int    // by which a person took the task from a desk; 0: it is no such handoff
	Granted    string // the principal that confirmed it; empty: nobody had to
	Reason     event.Reason
	Detail     string
	Chain      string // the escalation chain that the levels of its candidates are of
	Capability string // what was asked for, if not an agent by name
	Channel    string // that it was published to
	Confirm    event.ConfirmMode
	Times      event.Timeouts
	Retries    int
	Approver   string
	Envelope   string
	Past       int             // of a cold handoff: how many passages the task had before it
	Pack       event.Pack      // how the sender wants the envelope packed
	Permits    []string        // the permissions that go along; nil: as the task has them
	Decision   *event.Decision // of the policy that sent it; nil: the request named its receivers
	Requested  time.Time
	Claim      bool // offered to all candidates at once; the first to accept wins
	Recovery   bool
	Stuck      bool // a recovery of an owner that lives: only work ends it
	Counted    bool // against the attempts limit
	Unasked    bool // the owner that it takes the task from neither requested nor confirmed it
	ReturnHome bool // when all is used up: back to the source, not to the dead letters
	Amended    bool // the constraints have changed since the envelope was sealed, or its approver has said something
	RouteStep  bool // a transfer takes the next stop off the task's route
	Seen       bool // the newest offer

	Candidates []event.Candidate
	Next       int // the candidate that the next offer goes to
	Tries      int // offers to the present candidate that went unanswered
	RetryAt    time.Time
	Slow       string // the agent that last saw an offer and did not answer it

	Offer     int // number of the newest offer
	SeenBy    []string
	To        []string  // receivers of the newest offer
	OfferEnds time.Time // offer clock, until seen
	AckEnds   time.Time // acknowledgment clock, once seen

	ApprovalEnds time.Time
	Rendition    string // digest of the envelope as packed for the newest offer's receiver; empty: not packed
	Receiver     string // who accepted
	ConfirmEnds  time.Time
	Why          string // how it ended
	Ended        time.Time
}

// ID is the handoff's id within a task.
func (h *Handoff) ID(task string) string { return event.HandoffID(task, h.N) }

// OpenClaim reports whether the newest offer went to all candidates of a claim.
func (h *Handoff) OpenClaim() bool {
	return h.Claim && h.Stage == event.Offered && h.Candidates[h.Next].Tier == event.TierTarget
}

// InFlight is the handoff under way, or nil.
func (t *Task) InFlight() *Handoff {
	if t.Handoff == nil || t.Handoff.Stage.Final() {
		return nil
	}
	return t.Handoff
}

// NextHandoff is the number that the next handoff gets.
func (t *Task) NextHandoff() int {
	if t.Handoff == nil {
		return 1
	}
	return t.Handoff.N + 1
}

// NextHandoffID is the id that the next handoff gets.
func (t *Task) NextHandoffID() string { return event.HandoffID(t.ID, t.NextHandoff()) }

// Standing is what the record keeps before and after each handoff.
func (t *Task) Standing() event.Standing {
	return event.Standing{State: t.State, Owner: t.Owner, Epoch: t.Epoch, Permissions: t.Permissions, Dependencies: t.Dependencies}
}
