package event

import (
	"encoding/json"
	"time"
)

// Event is a fact about a task. Its JSON is frozen once released: fields may be added, never changed; anything
// else is a new version with an upcast.
type Event interface {
	// EventName is the event's name in the ledger and in every audit trail.
	EventName() string
}

// Events holds one value of every event type, for codecs and tests.
var Events = []Event{
	Created{},
	Started{},
	LeaseRenewed{},
	Progressed{},
	Constrained{},
	Lifted{},
	Finished{},
	GaveUp{},
	Called{},
	Sealed{},
	HandoffRequested{},
	ApprovalAsked{},
	Approved{},
	Denied{},
	OfferMade{},
	Seen{},
	ClaimJoined{},
	Acknowledged{},
	RejectedOffer{},
	OfferExpired{},
	Unanswered{},
	RetryScheduled{},
	Confirmed{},
	Moved{},
	Returned{},
	LeaseLost{},
	OwnerStuck{},
	OfferShed{},
	ParkedTask{},
	Replayed{},
	Discarded{},
	Spawned{},
	ChildEnded{},
	Joined{},
	DependencyEnded{},
	TakeoverAsked{},
	TakeoverRefused{},
	TicketOpened{},
	TicketClaimed{},
	TicketReleased{},
	TicketReminded{},
	TicketEscalated{},
	TicketClosed{},
	Shared{},
	ShareRead{},
	Rendered{},
	Annotated{},
	GapReported{},
	AdviceTaken{},
}

// Created starts a task.
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
	Claimed      json.RawMessage `json:"claimed_history,omitempty"` // brought in from elsewhere: claimed, never entries of ours
}

// Started: the requester, an agent, works on its own task.
type Started struct {
	Agent string    `json:"agent"`
	Lease time.Time `json:"lease"`
}

// LeaseRenewed: the owner showed life.
type LeaseRenewed struct {
	Lease time.Time `json:"lease"`
}

// Progressed: the owner reported progress. It renews the lease and makes a later revisit count as work.
type Progressed struct {
	Note  string    `json:"note"`
	Usage Budget    `json:"usage,omitzero"`
	Lease time.Time `json:"lease"`
}

// Constrained: a constraint was added or tightened.
type Constrained struct {
	Constraint Constraint `json:"constraint"`
}

// Lifted: whoever set a constraint, or an operator, took it away.
type Lifted struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// Finished: the owner completed the task.
type Finished struct {
	Agent  string    `json:"agent"`
	Result Result    `json:"result"`
	Usage  Budget    `json:"usage,omitzero"`
	At     time.Time `json:"at"`
}

// GaveUp: the owner says the task cannot be done.
type GaveUp struct {
	Agent  string    `json:"agent"`
	Detail string    `json:"detail"`
	Result Result    `json:"result,omitzero"`
	Usage  Budget    `json:"usage,omitzero"`
	At     time.Time `json:"at"`
}

// Called: the task was cancelled (called off).
type Called struct {
	By     string    `json:"by"`
	Detail string    `json:"detail,omitempty"`
	At     time.Time `json:"at"`
}

// Sealed records an envelope of the task. The bytes stay in the record; the fold keeps the digest.
type Sealed struct {
	Digest string          `json:"digest"`
	Parent string          `json:"parent,omitempty"`
	Bytes  json.RawMessage `json:"envelope"`
}

// Standing is a task's status, permissions and dependencies, recorded before and after each handoff.
type Standing struct {
	State        State        `json:"state"`
	Owner        string       `json:"owner,omitempty"`
	Epoch        uint64       `json:"epoch"`
	Permissions  []string     `json:"permissions,omitzero"`
	Dependencies []Dependency `json:"dependencies,omitempty"`
}

// HandoffRequested is the first message of the handshake.
type HandoffRequested struct {
	Handoff     int         `json:"handoff"`
	Kind        Kind        `json:"kind"`
	Claim       bool        `json:"claim,omitempty"`
	From        string      `json:"from"`
	Recovery    bool        `json:"recovery,omitempty"`
	Stuck       bool        `json:"stuck,omitempty"` // a recovery that the owner ends by working, and not by showing life
	Reason      Reason      `json:"reason"`
	Detail      string      `json:"detail,omitempty"`
	Capability  string      `json:"capability,omitempty"`
	Chain       string      `json:"chain,omitempty"`   // the escalation chain that the levels of its candidates are of
	Channel     string      `json:"channel,omitempty"` // that it was published to: the targets are its subscribers
	Candidates  []Candidate `json:"candidates,omitempty"`
	Passed      []Passed    `json:"passed_over,omitempty"`
	Confirm     ConfirmMode `json:"confirm"`
	Timeouts    Timeouts    `json:"timeouts"`
	Retries     int         `json:"retries"`
	ReturnHome  bool        `json:"return_home,omitempty"`
	Approver    string      `json:"approver,omitempty"`
	Envelope    string      `json:"envelope"`
	Permissions []string    `json:"permissions,omitzero"`
	NewWork     bool        `json:"new_work,omitempty"`
	RouteStep   bool        `json:"route_step,omitempty"` // once transferred, the next stop is off the task's route
	Attempt     bool        `json:"attempt,omitempty"`    // a recovery that counts against the attempts limit; on somebody's word, it counts when the owner is replaced
	Decision    *Decision   `json:"decision,omitempty"`   // what routing made of "auto"
	Ticket      int         `json:"ticket,omitempty"`     // a person takes the task from a desk: that counts against no limit
	By          string      `json:"by,omitempty"`         // the principal that asked for it, who may not approve it
	Pack        Pack        `json:"pack,omitzero"`        // how its envelope is to be packed
	Lease       time.Time   `json:"lease,omitzero"`       // the owner showed life by asking
	Before      Standing    `json:"before"`
	At          time.Time   `json:"at"`
}

// ApprovalAsked: a supervised handoff waits for its approver, or for an operator: the task's next ticket is theirs.
type ApprovalAsked struct {
	Approver string    `json:"approver,omitempty"`
	Envelope string    `json:"envelope"`
	Ends     time.Time `json:"ends"`
}

// Approved binds the approval to the envelope and the receivers it was given for.
type Approved struct {
	By       string    `json:"by"`
	Detail   string    `json:"detail,omitempty"`
	Envelope string    `json:"envelope"`
	To       []string  `json:"to"`
	Deadline time.Time `json:"deadline,omitzero"` // moved by the time that the approval took
	Lease    time.Time `json:"lease,omitzero"`
	At       time.Time `json:"at,omitzero"`
}

// Denied: the approver said no. The handoff returns.
type Denied struct {
	By     string    `json:"by"`
	Detail string    `json:"detail"`
	At     time.Time `json:"at,omitzero"`
}

// OfferMade: the handoff is offered to a receiver, or to all candidates of a claim.
type OfferMade struct {
	Handoff int       `json:"handoff"`
	Offer   int       `json:"offer"`
	To      []string  `json:"to"`
	Tier    Tier      `json:"tier"`
	Next    int       `json:"next"`             // index of the candidate offered to
	Try     int       `json:"try"`              // 0 for the first offer to this candidate
	Reason  Reason    `json:"reason,omitempty"` // why it goes to this candidate, where that is not the handoff's reason
	Passed  []Passed  `json:"passed_over,omitempty"`
	Ends    time.Time `json:"ends"`
}

// Seen: a receiver has the offer before it, fetched or delivered.
type Seen struct {
	Handoff int       `json:"handoff"`
	Offer   int       `json:"offer"`
	Agent   string    `json:"agent"`
	Ends    time.Time `json:"ends,omitzero"` // the acknowledgment clock; none for a claim
}

// ClaimJoined: an agent that became ready joins an open claim.
type ClaimJoined struct {
	Handoff int    `json:"handoff"`
	Agent   string `json:"agent"`
}

// Acknowledged is the second message: the receiver accepts.
type Acknowledged struct {
	Handoff int       `json:"handoff"`
	Offer   int       `json:"offer"`
	Agent   string    `json:"agent"`
	Ends    time.Time `json:"ends,omitzero"` // when an explicit confirm is overdue
}

// RejectedOffer: a receiver does not take the offer.
type RejectedOffer struct {
	Handoff int       `json:"handoff"`
	Offer   int       `json:"offer"`
	Agent   string    `json:"agent"`
	Why     Rejection `json:"why"`
	Missing []string  `json:"missing,omitempty"`
	Detail  string    `json:"detail,omitempty"`
}

// OfferExpired: nobody saw the offer in time.
type OfferExpired struct {
	Handoff int      `json:"handoff"`
	Offer   int      `json:"offer"`
	To      []string `json:"to"`
}

// Unanswered: the receiver saw the offer and did not answer in time. The breaker counts it.
type Unanswered struct {
	Handoff int    `json:"handoff"`
	Offer   int    `json:"offer"`
	Agent   string `json:"agent"`
}

// RetryScheduled: the same receiver gets another offer, or its first, after a pause.
type RetryScheduled struct {
	Handoff int       `json:"handoff"`
	Agent   string    `json:"agent"`
	Try     int       `json:"try"`
	At      time.Time `json:"at"`
}

// Confirmed is the third message: the source lets go.
type Confirmed struct {
	Handoff  int    `json:"handoff"`
	By       string `json:"by"`
	Auto     bool   `json:"auto,omitempty"`
	Envelope string `json:"envelope,omitempty"` // a delta with last notes
}

// Moved is the fourth message, "handoff-complete": ownership has moved.
type Moved struct {
	Handoff  int       `json:"handoff"`
	From     string    `json:"from"`
	To       string    `json:"to"`
	Epoch    uint64    `json:"epoch"`
	Lease    time.Time `json:"lease"`
	Hop      bool      `json:"hop,omitempty"`   // counts against the hop limit
	Human    bool      `json:"human,omitempty"` // to a person, of whom signs of life are not expected
	Delivery string    `json:"envelope"`
	After    Standing  `json:"after"`
	At       time.Time `json:"at"`
}

// Returned: the handoff is over and the task is back with its source, as it was.
type Returned struct {
	Handoff int       `json:"handoff"`
	Outcome Stage     `json:"outcome"`
	Why     string    `json:"why"`
	Lease   time.Time `json:"lease,omitzero"`
	// Deadline replaces the task's where an approval was pending, for as long as the clocks stood still.
	Deadline time.Time `json:"deadline,omitzero"`
	After    Standing  `json:"after,omitzero"`
	At       time.Time `json:"at"`
}

// LeaseLost: the owner showed no life in time. The breaker counts it.
type LeaseLost struct {
	Agent string    `json:"agent"`
	Epoch uint64    `json:"epoch"`
	At    time.Time `json:"at"`
}

// OwnerStuck: the owner shows life and gets nowhere. The breaker counts it where no person but a clock said so.
type OwnerStuck struct {
	Agent  string    `json:"agent"`
	Epoch  uint64    `json:"epoch"`
	By     string    `json:"by,omitempty"` // who said so; absent: no progress was reported in time
	Detail string    `json:"detail,omitempty"`
	At     time.Time `json:"at"`
}

// OfferShed: an offer that nobody has accepted is taken from an agent that has too much to do. It goes to others that have
// room, and then on as if the agent had turned it down.
type OfferShed struct {
	Handoff int      `json:"handoff"`
	Offer   int      `json:"offer"`
	Agent   string   `json:"agent"`
	To      []string `json:"to"` // who is asked next, best first
	By      string   `json:"by"`
	Why     string   `json:"why"`
}

// ParkedTask: the task is in the dead-letter queue.
type ParkedTask struct {
	Cause  ParkCause `json:"cause"`
	Detail string    `json:"detail"`
	At     time.Time `json:"at"`
}

// Replayed: an operator revived a parked task, with fresh limits.
type Replayed struct {
	By    string    `json:"by"`
	Note  string    `json:"note,omitempty"`
	Lease time.Time `json:"lease,omitzero"`
	// Deadline replaces the task's deadline; zero removes one that has passed.
	Deadline time.Time `json:"deadline,omitzero"`
	Route    []string  `json:"route,omitzero"`  // absent: as it was
	Budget   Budget    `json:"budget,omitzero"` // replaces the fields that are set
}

// Discarded: an operator gave a parked task up.
type Discarded struct {
	By  string    `json:"by"`
	Why string    `json:"why"`
	At  time.Time `json:"at"`
}

// NewChild is a child task as its parent records it, before anything of it exists.
type NewChild struct {
	Task   string `json:"task"`
	Index  int    `json:"index"`
	To     string `json:"to,omitempty"`
	Intent string `json:"intent"`
	Budget Budget `json:"budget,omitzero"`
	Tasks  int    `json:"tasks,omitempty"` // how many may come of it
}

// Spawned: a fan-out or a delegation. The children are created from this, as often as it takes, once.
type Spawned struct {
	Group       int        `json:"group"`
	Kind        Kind       `json:"kind"`
	From        string     `json:"from"`
	Reason      Reason     `json:"reason"`
	Detail      string     `json:"detail,omitempty"`
	Children    []NewChild `json:"children"`
	Passed      []Passed   `json:"passed_over,omitempty"`
	FanIn       FanIn      `json:"fan_in"`
	Timeouts    Timeouts   `json:"timeouts"`
	Retries     int        `json:"retries"`
	Permissions []string   `json:"permissions,omitzero"`
	Expected    Expected   `json:"expected,omitzero"`
	Envelope    string     `json:"envelope"`
	Pack        Pack       `json:"pack,omitzero"`     // how the children's envelopes are to be packed
	Channel     string     `json:"channel,omitempty"` // that it was published to: each child is for a subscriber
	JoinBy      time.Time  `json:"join_by,omitzero"`
	Before      Standing   `json:"before"`
	At          time.Time  `json:"at"`
	NewWork     bool       `json:"new_work,omitempty"`
	Decision    *Decision  `json:"decision,omitempty"` // what routing made of "auto"
}

// ChildEnded: a child task ended, or went to or came from the dead letters.
type ChildEnded struct {
	Child  string  `json:"child"`
	State  State   `json:"state"`
	Result *Result `json:"result,omitempty"`
	Spent  Budget  `json:"spent,omitzero"`
	Why    string  `json:"why,omitempty"`   // it failed, was called off or is in the dead letters
	Tasks  int     `json:"tasks,omitempty"` // that have come of it; the others that it might have made are its parent's again
	Late   bool    `json:"late,omitempty"`  // the parent did not wait, or no longer: recorded, and nothing follows
}

// Joined: the parent has what it waited for, or cannot get it any more.
type Joined struct {
	Satisfied bool      `json:"satisfied"`
	Why       string    `json:"why"`
	Cancel    []string  `json:"cancel,omitempty"` // children that are no longer needed
	Lease     time.Time `json:"lease,omitzero"`
	Result    *Result   `json:"result,omitempty"` // where nobody owns the parent
	At        time.Time `json:"at"`
}

// DependencyEnded: a task that this one depends on has ended.
type DependencyEnded struct {
	Task  string `json:"task"`
	State State  `json:"state"`
}

// TakeoverAsked: an agent would like to have the task.
type TakeoverAsked struct {
	Ask    int    `json:"ask"`
	By     string `json:"by"`
	Detail string `json:"detail,omitempty"`
}

// TakeoverRefused: the owner keeps the task.
type TakeoverRefused struct {
	Ask    int    `json:"ask"`
	By     string `json:"by"`
	Detail string `json:"detail,omitempty"`
}

// Shared: a sealed envelope was given to another agent; ownership stays.
type Shared struct {
	Share    int    `json:"share"`
	From     string `json:"from"`
	To       string `json:"to"`
	Envelope string `json:"envelope"`
	Pack     Pack   `json:"pack,omitzero"`
	Detail   string `json:"detail,omitempty"`
}

// ShareRead: the agent fetched what was shared with it.
type ShareRead struct {
	Share int `json:"share"`
}

// Rendered: an envelope was packed for one receiver: of a handoff's offer, or of a share. The bytes stay in the
// record; the fold keeps the digest. An envelope that fits as it is has its own digest, and no bytes or parent.
type Rendered struct {
	Handoff      int             `json:"handoff,omitempty"` // this and the offer, or the share
	Offer        int             `json:"offer,omitempty"`
	Share        int             `json:"share,omitempty"`
	Agent        string          `json:"agent"`
	Source       string          `json:"source"` // digest of the envelope that was packed
	Digest       string          `json:"digest"`
	Parent       string          `json:"parent,omitempty"` // the source again: what the document names
	Bytes        json.RawMessage `json:"envelope,omitempty"`
	Tokens       int             `json:"tokens"`
	Budget       int             `json:"budget"`
	Estimate     bool            `json:"estimate,omitempty"` // the tokens are estimated, not counted
	Utilisation  float64         `json:"utilisation"`        // of the budget, from 0 to 1
	Completeness float64         `json:"completeness"`       // references resolved by references requested, from 0 to 1
	Omitted      int             `json:"omitted,omitempty"`  // parts that were left out
}

// GapReported: the owner found that its context lacks something, and goes on with what there is.
type GapReported struct {
	Agent   string   `json:"agent"`
	Missing []string `json:"missing"`
	Detail  string   `json:"detail,omitempty"`
}

// Annotated corrects or comments on an earlier entry, which stays as it is.
type Annotated struct {
	Entry uint64 `json:"entry"` // its position
	By    string `json:"by"`
	Note  string `json:"note"`
}
