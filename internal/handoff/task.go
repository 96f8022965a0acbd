package handoff

import (
	"encoding/json"
	"slices"
	"time"
)

// Task is the aggregate: one piece of work and the handoffs inside it. It is the fold of its events and is never
// changed in place. Its zero value is a task that does not exist yet.
type Task struct {
	ID        string
	State     State
	Intent    string // the original request, kept verbatim for ever
	Requester string // the principal that created it, "agent/NAME" or "operator/NAME"
	Priority  Priority
	Route     []string // agents that a choreographed task still has to visit

	Owner string    // the agent that holds it; empty if nobody does
	Epoch uint64    // rises with every change of owner; a call with another epoch is refused
	Lease time.Time // when the owner must next have shown life; zero while no lease runs

	Created  time.Time
	Deadline time.Time // zero: none
	Times    Timeouts
	Limits   Limits
	Used     Used
	Budget   Budget // zero fields: not limited
	Spent    Budget
	Reserved Budget // held by children that have not ended

	Path  []Visit // every owner in turn, the present one last
	Marks int     // counts progress, decisions and results: what makes a revisit work and not a loop

	Constraints  []Constraint
	Permissions  []string // nil: not restricted here
	Dependencies []Dependency
	Expected     Expected

	Envelope string   // digest of the newest sealed envelope
	Handoff  *Handoff // the newest handoff, in flight or over; nil if there was none
	Asks     []Ask    // to take over, not yet answered
	AskCount int
	Shares   []Share

	Parent   Parent
	Children []Child
	FanIn    FanIn
	Awaits   int       // the group of children that it waits for
	JoinBy   time.Time // when a parent stops waiting; zero: never

	Parked   *ParkedFor // why it is in the dead-letter queue; kept after a replay as what went before
	Progress string     // the newest progress note
	Result   *Result
	Ended    time.Time
}

// Timeouts are the durations that start the five clocks, and those around them. Zero fields mean the default.
type Timeouts struct {
	Offer    Duration `json:"offer,omitzero"`    // an offer nobody has seen; default 10m
	Ack      Duration `json:"ack,omitzero"`      // from seen to answered; default 15s
	Approval Duration `json:"approval,omitzero"` // a supervised handoff; default 24h
	Confirm  Duration `json:"confirm,omitzero"`  // an explicit confirm; default 1m
	Lease    Duration `json:"lease,omitzero"`    // an owner that shows no life; default 30m
	Wait     Duration `json:"wait,omitzero"`     // a parent that waits for children; default: no end
}

func (t Timeouts) withDefaults() Timeouts {
	t.Offer = t.Offer.or(10 * time.Minute)
	t.Ack = t.Ack.or(15 * time.Second)
	t.Approval = t.Approval.or(24 * time.Hour)
	t.Confirm = t.Confirm.or(time.Minute)
	t.Lease = t.Lease.or(30 * time.Minute)
	return t
}

// over returns t with the fields of base where t has none.
func (t Timeouts) over(base Timeouts) Timeouts {
	t.Offer = t.Offer.or(time.Duration(base.Offer))
	t.Ack = t.Ack.or(time.Duration(base.Ack))
	t.Approval = t.Approval.or(time.Duration(base.Approval))
	t.Confirm = t.Confirm.or(time.Duration(base.Confirm))
	t.Lease = t.Lease.or(time.Duration(base.Lease))
	t.Wait = t.Wait.or(time.Duration(base.Wait))
	return t
}

func (t Timeouts) check() error {
	for _, c := range []struct {
		name string
		d    Duration
	}{{"offer", t.Offer}, {"ack", t.Ack}, {"approval", t.Approval}, {"confirm", t.Confirm}, {"lease", t.Lease}, {"wait", t.Wait}} {
		if err := c.d.check("the " + c.name + " timeout"); err != nil {
			return err
		}
	}
	return nil
}

// Limits bound what can happen to a task. Zero fields mean the default.
type Limits struct {
	Hops        int `json:"hops,omitzero"`        // changes of owner; default 10
	Handoffs    int `json:"handoffs,omitzero"`    // requests, successful or not; default 30
	Visits      int `json:"visits,omitzero"`      // times one agent may own it; default 5
	Escalations int `json:"escalations,omitzero"` // default 5
	Attempts    int `json:"attempts,omitzero"`    // recoveries from a lost owner; default 3
}

func (l Limits) withDefaults() Limits {
	set := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
	}
	set(&l.Hops, 10)
	set(&l.Handoffs, 30)
	set(&l.Visits, 5)
	set(&l.Escalations, 5)
	set(&l.Attempts, 3)
	return l
}

// Used is how much of the limits is gone.
type Used struct {
	Hops        int `json:"hops"`
	Handoffs    int `json:"handoffs"`
	Escalations int `json:"escalations"`
	Attempts    int `json:"attempts"`
	Base        int `json:"base,omitempty"` // handoffs before the last replay: numbers go on, the limit starts again
}

// Budget is what a task may spend, or has spent, as its agents report it.
type Budget struct {
	Tokens int64 `json:"tokens,omitzero"`
	Cost   int64 `json:"cost_micros,omitzero"` // millionths of the currency that the deployment counts in
}

func (b Budget) plus(o Budget) Budget { return Budget{b.Tokens + o.Tokens, b.Cost + o.Cost} }

func (b Budget) minus(o Budget) Budget { return Budget{b.Tokens - o.Tokens, b.Cost - o.Cost} }

// Visit is one ownership on a task's path.
type Visit struct {
	Agent string `json:"agent"`
	Marks int    `json:"marks"` // the task's marks when the agent let go; -1 while it holds the task
}

// Constraint is a rule for whoever holds the task. It can be tightened, never loosened.
type Constraint struct {
	ID     string         `json:"id"`
	Kind   ConstraintKind `json:"kind"`
	Text   string         `json:"text"`
	Hard   bool           `json:"hard,omitempty"`
	Max    *float64       `json:"max,omitempty"`   // tighter is smaller
	Allow  []string       `json:"allow,omitempty"` // tighter is a subset
	Origin string         `json:"origin,omitempty"`
}

// Dependency is a task that must complete before this one can start.
type Dependency struct {
	Task  string `json:"task"`
	State State  `json:"state"` // Pending until it ends
}

// Expected is what the result must look like.
type Expected struct {
	Format   string          `json:"format,omitempty"`
	MaxBytes int             `json:"max_bytes,omitzero"`
	Criteria []string        `json:"criteria,omitempty"`
	Schema   json.RawMessage `json:"schema,omitempty"`
}

// Candidate is a receiver that a handoff may be offered to.
type Candidate struct {
	Agent string `json:"agent"`
	Tier  Tier   `json:"tier"`
}

// Passed is a candidate that was left out, and why.
type Passed struct {
	Agent string `json:"agent"`
	Why   string `json:"why"`
}

// Handoff is one attempt to move the task. A retry or a fallback is a new offer of the same handoff.
type Handoff struct {
	N          int
	Kind       Kind
	Claim      bool // offered to all candidates at once; the first to accept wins
	Stage      Stage
	From       string // the agent or principal that gives the task up
	Recovery   bool
	Reason     Reason
	Detail     string
	Capability string // what was asked for, if not an agent by name
	Confirm    ConfirmMode
	Times      Timeouts
	Retries    int
	ReturnHome bool // when all is used up: back to the source, not to the dead letters
	Approver   string
	Envelope   string
	Permits    []string // the permissions that go along; nil: as the task has them
	Requested  time.Time

	Candidates []Candidate
	Next       int // the candidate that the next offer goes to
	Tries      int // offers to the present candidate that went unanswered
	RetryAt    time.Time

	Offer     int // number of the newest offer
	Seen      bool
	SeenBy    []string
	To        []string // receivers of the newest offer
	Delivery  time.Time
	OfferEnds time.Time // offer clock, until seen
	AckEnds   time.Time // acknowledgment clock, once seen

	ApprovalEnds time.Time
	Receiver     string // who accepted
	ConfirmEnds  time.Time
	Why          string // how it ended
	Ended        time.Time
}

// ID is the handoff's id within a task.
func (h *Handoff) ID(task string) string { return HandoffID(task, h.N) }

// Ask is a receiver's wish to take the task over.
type Ask struct {
	N      int    `json:"n"`
	By     string `json:"by"`
	Detail string `json:"detail,omitempty"`
}

// Share is a sealed envelope given to an agent that does not own the task.
type Share struct {
	N        int    `json:"n"`
	To       string `json:"to"`
	From     string `json:"from"`
	Envelope string `json:"envelope"`
	Read     bool   `json:"read"`
}

// Parent links a child task to the task it works for.
type Parent struct {
	Task  string `json:"task,omitempty"`
	Index int    `json:"index,omitempty"`
	Await bool   `json:"await,omitempty"` // the parent wants to hear how it ends
}

// Child is a parent's record of a child task.
type Child struct {
	Task   string `json:"task"`
	To     string `json:"to"`
	Budget Budget `json:"budget,omitzero"`
	State  State  `json:"state"` // Pending until it ends; Parked while in the dead letters
	Group  int    `json:"group"` // children of one spawn belong together
	Result *Result
}

// FanIn says when the parent resumes.
type FanIn struct {
	Mode   FanInMode `json:"mode"`
	Quorum int       `json:"quorum,omitzero"`
}

// ParkedFor is why a task is in the dead-letter queue.
type ParkedFor struct {
	Cause  ParkCause `json:"cause"`
	Detail string    `json:"detail"`
	At     time.Time `json:"at"`
}

// Result is what came of a task.
type Result struct {
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
	Code int             `json:"code,omitzero"` // exit code, where a program did the work
}

// Source is who stands behind the task now: its owner, or its requester while nobody owns it.
func (t Task) Source() string {
	if t.Owner != "" {
		return t.Owner
	}
	return t.Requester
}

// InFlight is the handoff under way, or nil.
func (t Task) InFlight() *Handoff {
	if t.Handoff == nil || t.Handoff.Stage.Final() {
		return nil
	}
	return t.Handoff
}

// Unmet lists the dependencies that have not completed.
func (t Task) Unmet() []string {
	var ids []string
	for _, d := range t.Dependencies {
		if d.State != Completed {
			ids = append(ids, d.Task)
		}
	}
	return ids
}

// Exists reports whether the task has been created.
func (t Task) Exists() bool { return t.State != none }

// left is what remains of the budget: below zero where it is overspent.
func (t Task) left() Budget { return t.Budget.minus(t.Spent).minus(t.Reserved) }

// spent reports whether a budget that is set has nothing left, or less than nothing.
func (t Task) spent() (used, over bool) {
	b := t.left()
	used = (t.Budget.Tokens > 0 && b.Tokens <= 0) || (t.Budget.Cost > 0 && b.Cost <= 0)
	over = (t.Budget.Tokens > 0 && b.Tokens < 0) || (t.Budget.Cost > 0 && b.Cost < 0)
	return used, over
}

// child finds a child by id.
func (t Task) child(id string) int {
	return slices.IndexFunc(t.Children, func(c Child) bool { return c.Task == id })
}
