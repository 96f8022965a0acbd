package client

import "time"

// Code says what sort of refusal an [Error] is. It is an error itself, for [errors.Is].
type Code string

// The codes of refusals.
const (
	Unauthenticated Code = "unauthenticated" // no token, or one that no longer counts
	NotPermitted    Code = "not_permitted"   // the token is good but may not do this
	NotFound        Code = "not_found"       // no such thing, or none that the token may see
	Invalid         Code = "invalid"         // the request is malformed, or breaks a rule on its own
	TooLarge        Code = "too_large"       // a size limit is exceeded
	Conflict        Code = "conflict"        // the present state does not allow this
	StaleEpoch      Code = "stale_epoch"     // ownership has moved since the caller last looked
	NotOwner        Code = "not_owner"       // only the task's owner may do this
	Limit           Code = "limit"           // a limit of the task is reached
	Budget          Code = "budget"          // a budget of the task is spent
	Unavailable     Code = "unavailable"     // this cannot be served now; later may work
	CircuitOpen     Code = "circuit_open"    // the receiver's circuit is open
	Expired         Code = "expired"         // the time for this is over
	Unknown         Code = "unknown"         // it may or may not have happened; repeat it with the same key
)

func (c Code) Error() string { return string(c) }

// State is where a task is in its life.
type State string

// The states of a task. The last three are final.
const (
	Pending    State = "pending"     // it has no owner; its requester is the source
	Executing  State = "executing"   // its owner works on it
	HandingOff State = "handing_off" // a handoff is under way; the source still owns it
	Waiting    State = "waiting"     // for the results of child tasks
	Parked     State = "parked"      // in the dead-letter queue
	Completed  State = "completed"
	Failed     State = "failed"
	Cancelled  State = "cancelled"
)

// Final reports whether nothing can happen to a task in this state any more.
func (s State) Final() bool { return s == Completed || s == Failed || s == Cancelled }

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
	StageAtDesk           Stage = "at_desk" // only people are left: a ticket is open for them
)

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

// Rejection is why a receiver does not take an offer.
type Rejection string

// The typed rejections.
const (
	NotCapable     Rejection = "not_capable"
	Overloaded     Rejection = "overloaded"
	MissingContext Rejection = "missing_context" // say which fields are missing
	Refused        Rejection = "refused"
)

// Priority orders every inbox.
type Priority string

// The priorities, lowest first.
const (
	Low    Priority = "low"
	Normal Priority = "normal"
	High   Priority = "high"
	Urgent Priority = "urgent"
)

// ConfirmMode says who lets go after the receiver has accepted.
type ConfirmMode string

// The confirm modes.
const (
	ConfirmAuto     ConfirmMode = "auto"     // acceptance confirms by itself
	ConfirmExplicit ConfirmMode = "explicit" // the source confirms with a call of its own
)

// FanInMode says when a parent gets its children's results.
type FanInMode string

// The fan-in modes.
const (
	FanInAll    FanInMode = "all"
	FanInQuorum FanInMode = "quorum"
	FanInFirst  FanInMode = "first"
	FanInNone   FanInMode = "none" // the sender goes on; the children are on their own
)

// ConstraintKind says what a constraint is about.
type ConstraintKind string

// The kinds of constraint.
const (
	ConstraintBudget      ConstraintKind = "budget"
	ConstraintSecurity    ConstraintKind = "security"
	ConstraintFormat      ConstraintKind = "format"
	ConstraintPreference  ConstraintKind = "preference"
	ConstraintProhibition ConstraintKind = "prohibition"
)

// Readiness is whether an agent takes new work.
type Readiness string

// The kinds of readiness. Only a ready agent is offered work.
const (
	Ready    Readiness = "ready"
	Busy     Readiness = "busy"
	Draining Readiness = "draining" // it finishes what it holds and takes nothing more
	Offline  Readiness = "offline"
)

// Role is what the bearer of a token is to the server.
type Role string

// The roles.
const (
	RoleAdmin    Role = "admin"    // everything, tokens included
	RoleOperator Role = "operator" // runs the work: any task, approvals, dead letters, agents
	RoleAuditor  Role = "auditor"  // reads everything, changes nothing
	RoleAgent    Role = "agent"    // acts for itself
)

// Duration is a time.Duration that is written as text ("15s", "1h30m") in JSON.
type Duration time.Duration

// MarshalText writes the duration as Go does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads "15s", "1h30m" and the like.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

func (d Duration) String() string { return time.Duration(d).String() }
