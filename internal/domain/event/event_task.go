package event

import (
	"encoding/json"
	"time"
)

// Created: the task exists.
type Created struct {
	Task         string          `json:"task"`
	Intent       string          `json:"intent"`
	Requester    string          `json:"requester"`
	Priority     Priority        `json:"priority"`
	Route        []string        `json:"route,omitempty"`
	At           time.Time       `json:"at"`
	Deadline     time.Time       `json:"deadline,omitzero"`
	Timeouts     Timeouts        `json:"timeouts"`
	Limits       Limits          `json:"limits"`
	Used         Used            `json:"used,omitzero"`
	Path         []Visit         `json:"path,omitempty"`
	Marks        int             `json:"marks,omitempty"`
	Budget       Budget          `json:"budget,omitzero"`
	Constraints  []Constraint    `json:"constraints,omitempty"`
	Permissions  []string        `json:"permissions,omitzero"` // absent: not restricted; empty: none
	Dependencies []Dependency    `json:"dependencies,omitempty"`
	Expected     Expected        `json:"expected,omitzero"`
	Parent       Parent          `json:"parent,omitzero"`
	Conversation string          `json:"conversation,omitempty"` // that the task belongs to
	Tags         []string        `json:"tags,omitempty"`
	Subject      string          `json:"subject,omitempty"`         // that the content is about, by which it can be erased
	Claimed      json.RawMessage `json:"claimed_history,omitempty"` // from another system, as it claims; never entries of this record
	Notices      bool            `json:"notices,omitempty"`         // agents get notices of the end or loss of the task; absent: recorded before there were any
}

// EventName implements [Event].
func (Created) EventName() string { return "task-created" }

// Started: the requester, an agent, works on its own task.
type Started struct {
	Agent string    `json:"agent"`
	Lease time.Time `json:"lease"`
}

// EventName implements [Event].
func (Started) EventName() string { return "task-started" }

// LeaseRenewed: the owner sent a sign of life.
type LeaseRenewed struct {
	Lease time.Time `json:"lease"`
	Told  bool      `json:"told,omitempty"` // the owner has what it waited for: results, an answer, or a task that came back
	Usage Budget    `json:"usage,omitzero"` // reported alone, without a note of progress
}

// EventName implements [Event].
func (LeaseRenewed) EventName() string { return "lease-renewed" }

// Progressed: the owner reported progress. It renews the lease and makes a later revisit count as work.
type Progressed struct {
	Note  string    `json:"note"`
	Usage Budget    `json:"usage,omitzero"`
	Lease time.Time `json:"lease"`
}

// EventName implements [Event].
func (Progressed) EventName() string { return "task-progress" }

// Constrained: a constraint was added or tightened.
type Constrained struct {
	Constraint Constraint `json:"constraint"` // as it binds now
	// Own is what its Origin asks for alone: the setter of a rule, a principal that tightens the rule of another, or the parent task, if
	// it is inherited. A new constraint lacks it; so do older records, where it is what differs from the constraint before.
	Own Constraint `json:"own,omitzero"`
}

// EventName implements [Event].
func (Constrained) EventName() string { return "constraint-set" }

// Lifted: a constraint was removed, or what one principal had tightened of it.
type Lifted struct {
	ID  string `json:"id"`
	Why string `json:"why"`
	By  string `json:"by,omitempty"` // in the parent task, if the constraint is inherited; older records lack it
	// Constraint is as it was before; the open children that inherited it are freed of it. Records from before children were
	// freed lack it.
	Constraint Constraint `json:"constraint,omitzero"`
	// TightenedBy is the principal whose tightening alone was lifted, and After the constraint since; absent: the whole was removed.
	TightenedBy string     `json:"tightened_by,omitempty"`
	After       Constraint `json:"after,omitzero"`
	Own         Constraint `json:"own,omitzero"` // what the parent task has of it since, if it is inherited
	At          time.Time  `json:"at,omitzero"`  // older records lack it
}

// EventName implements [Event].
func (Lifted) EventName() string { return "constraint-lifted" }

// Finished: the owner completed the task.
type Finished struct {
	Agent  string    `json:"agent"`
	Result Result    `json:"result"`
	Usage  Budget    `json:"usage,omitzero"`
	At     time.Time `json:"at"`
}

// EventName implements [Event].
func (Finished) EventName() string { return "task-completed" }

// GaveUp: the owner reported that the task cannot be done.
type GaveUp struct {
	Agent  string    `json:"agent"`
	Detail string    `json:"detail"`
	Result Result    `json:"result,omitzero"`
	Usage  Budget    `json:"usage,omitzero"`
	At     time.Time `json:"at"`
}

// EventName implements [Event].
func (GaveUp) EventName() string { return "task-failed" }

// Called: the task was cancelled.
type Called struct {
	By     string    `json:"by"`
	Detail string    `json:"detail,omitempty"`
	At     time.Time `json:"at"`
}

// EventName implements [Event].
func (Called) EventName() string { return "task-cancelled" }

// Sealed: an envelope of the task was sealed. The bytes stay in the record; the fold keeps the digest.
type Sealed struct {
	Digest string          `json:"digest"`
	Parent string          `json:"parent,omitempty"`
	Trace  string          `json:"trace,omitempty"` // the traceparent of the envelope; of a child's first one, that of its parent
	Bytes  json.RawMessage `json:"envelope"`
	// Measured is what it takes packed for those that it is sent to; nil if that was not counted.
	Measured *Measured `json:"measured,omitempty"`
}

// Measured is what an envelope takes when it is packed for its receivers: of several, the figures of the one with the most tokens.
type Measured struct {
	Tokens       int     `json:"tokens"`
	Budget       int     `json:"budget,omitempty"`   // 0: no limit
	Estimate     bool    `json:"estimate,omitempty"` // the tokens are estimated, not counted
	Completeness float64 `json:"completeness"`       // references resolved by references requested, from 0 to 1
	Omitted      int     `json:"omitted,omitempty"`  // parts that are left out
}

// EventName implements [Event].
func (Sealed) EventName() string { return "envelope-sealed" }

// LeaseLost: the owner sent no sign of life in time. The circuit breaker counts it.
type LeaseLost struct {
	Agent  string    `json:"agent"`
	Sender string    `json:"sender,omitempty"` // the principal on whose account the owner got the task
	Epoch  uint64    `json:"epoch"`
	At     time.Time `json:"at"`
}

// EventName implements [Event].
func (LeaseLost) EventName() string { return "lease-lost" }

// OwnerStuck: the owner is alive and not making progress. The circuit breaker counts it if a clock found it, not a principal.
type OwnerStuck struct {
	Agent  string    `json:"agent"`
	Sender string    `json:"sender,omitempty"` // the principal on whose account the owner got the task
	Epoch  uint64    `json:"epoch"`
	By     string    `json:"by,omitempty"` // the principal that reported it; absent: no progress in time
	Detail string    `json:"detail,omitempty"`
	At     time.Time `json:"at"`
}

// EventName implements [Event].
func (OwnerStuck) EventName() string { return "owner-stuck" }

// ParkedTask: the task is in the dead letters.
type ParkedTask struct {
	Cause  ParkCause `json:"cause"`
	Detail string    `json:"detail"`
	At     time.Time `json:"at"`
	Unsent *Unsent   `json:"unsent,omitempty"` // the send that could not begin; absent: there was none, or it gave nothing
}

// Unsent is what is kept of a send that could not begin, for the agent that the task is replayed to.
type Unsent struct {
	Kind        Kind     `json:"kind"`
	Envelope    string   `json:"envelope"` // digest of what was given
	Permissions []string `json:"permissions,omitzero"`
}

// EventName implements [Event].
func (ParkedTask) EventName() string { return "task-parked" }

// Replayed: an operator revived a task of the dead letters, with fresh limits.
type Replayed struct {
	At    time.Time `json:"at,omitzero"` // older records lack it
	By    string    `json:"by"`
	Note  string    `json:"note,omitempty"`
	Lease time.Time `json:"lease,omitzero"`
	// Deadline replaces the task's deadline; zero removes one that has passed.
	Deadline time.Time `json:"deadline,omitzero"`
	Route    []string  `json:"route,omitzero"`  // absent: as it was
	Budget   Budget    `json:"budget,omitzero"` // replaces the fields that are set
	// TakeUpBy is when the requester of a task that nobody owns must have taken it up: see [Returned].
	TakeUpBy time.Time `json:"take_up_by,omitzero"`
	// Tell reports that the owner is told, or the requester of a task that nobody owns. Records from before owners were told lack it
	// where there is one.
	Tell bool `json:"tell,omitempty"`
}

// EventName implements [Event].
func (Replayed) EventName() string { return "task-replayed" }

// BudgetRaised: the task's budget is larger; or, with a child, what the task reserves for that child is.
type BudgetRaised struct {
	By     string `json:"by"`
	Child  string `json:"child,omitempty"`
	Budget Budget `json:"budget"` // the new amounts, with those that stayed
	Why    string `json:"why,omitempty"`
}

// EventName implements [Event].
func (BudgetRaised) EventName() string { return "budget-raised" }

// Discarded: an operator discarded a task of the dead letters.
type Discarded struct {
	By  string    `json:"by"`
	Why string    `json:"why"`
	At  time.Time `json:"at"`
}

// EventName implements [Event].
func (Discarded) EventName() string { return "task-discarded" }

// DependencyEnded: a task that this one depends on has ended.
type DependencyEnded struct {
	Task  string `json:"task"`
	State State  `json:"state"`
	// TakeUpBy is when the requester of a task that had come back to it, and that nobody owns, must have taken it up: see [Returned].
	TakeUpBy time.Time `json:"take_up_by,omitzero"`
}

// EventName implements [Event].
func (DependencyEnded) EventName() string { return "dependency-ended" }

// Shared: a sealed envelope was given to another agent; ownership stays.
type Shared struct {
	Share    int    `json:"share"`
	From     string `json:"from"`
	To       string `json:"to"`
	Envelope string `json:"envelope"`
	Pack     Pack   `json:"pack,omitzero"`
	Detail   string `json:"detail,omitempty"`
}

// EventName implements [Event].
func (Shared) EventName() string { return "envelope-shared" }

// ShareRead: the agent fetched the envelope that was shared with it.
type ShareRead struct {
	Share int `json:"share"`
}

// EventName implements [Event].
func (ShareRead) EventName() string { return "share-read" }

// NoticeSeen: the agent has seen its notice of the end or loss of the task.
type NoticeSeen struct {
	Notice int    `json:"notice"`
	Agent  string `json:"agent"`
}

// EventName implements [Event].
func (NoticeSeen) EventName() string { return "notice-seen" }

// Rendered: an envelope was packed for one receiver of an offer or a share. The bytes stay in the record; the fold keeps the
// digest. An envelope that fits as it is has its own digest, and no bytes or parent.
type Rendered struct {
	Handoff      int             `json:"handoff,omitempty"` // with the offer; or the share alone
	Offer        int             `json:"offer,omitempty"`
	Share        int             `json:"share,omitempty"`
	Agent        string          `json:"agent"`
	Source       string          `json:"source"` // digest of the envelope that was packed
	Digest       string          `json:"digest"`
	Parent       string          `json:"parent,omitempty"` // the source again, as the packed envelope names it
	Bytes        json.RawMessage `json:"envelope,omitempty"`
	Tokens       int             `json:"tokens"`
	Budget       int             `json:"budget"`
	Estimate     bool            `json:"estimate,omitempty"`    // the tokens are estimated, not counted
	Utilisation  float64         `json:"utilisation"`           // of the budget, from 0 to 1
	Completeness float64         `json:"completeness"`          // references resolved by references requested, from 0 to 1
	Omitted      int             `json:"omitted,omitempty"`     // parts that were left out
	OverBudget   int             `json:"over_budget,omitempty"` // those of them for which the budget had no room
	Forgotten    []Forgotten     `json:"forgotten,omitempty"`   // that the envelope lacks, by those that forgot it
}

// Forgotten is what somebody forgot, since the task was created, of the memory that an envelope refers to.
type Forgotten struct {
	By    string  `json:"by"`    // the principal; of what the server forgot, the owner
	Share float64 `json:"share"` // of the references requested, from 0 to 1
}

// EventName implements [Event].
func (Rendered) EventName() string { return "envelope-rendered" }

// Annotated: an earlier entry, which stays as it is, was corrected or commented on.
type Annotated struct {
	Entry uint64 `json:"entry"` // its position
	By    string `json:"by"`
	Note  string `json:"note"`
}

// EventName implements [Event].
func (Annotated) EventName() string { return "entry-annotated" }

// GapReported: the owner reported that its context lacks something. It goes on working.
type GapReported struct {
	Agent   string   `json:"agent"`
	Missing []string `json:"missing"`
	Detail  string   `json:"detail,omitempty"`
	Usage   Budget   `json:"usage,omitzero"`
}

// EventName implements [Event].
func (GapReported) EventName() string { return "gap-reported" }
