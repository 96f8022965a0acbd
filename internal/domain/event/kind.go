package event

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// The closed sets of this room. Each refuses an unknown value when it is decoded, so that none gets past a door.

// State is where a task is in its life.
type State string

// The task states. Completed, Failed and Cancelled are final.
const (
	Pending    State = "pending"     // nobody owns it; its requester stands as source
	Executing  State = "executing"   // its owner works on it
	HandingOff State = "handing_off" // a handoff is under way; the source still owns it
	Waiting    State = "waiting"     // for the results of child tasks
	Parked     State = "parked"      // in the dead-letter queue
	Completed  State = "completed"
	Failed     State = "failed"
	Cancelled  State = "cancelled"
)

var states = []State{Pending, Executing, HandingOff, Waiting, Parked, Completed, Failed, Cancelled}

// States lists every task state.
func States() []State { return slices.Clone(states) }

// Final reports whether nothing can happen to a task in this state any more.
func (s State) Final() bool { return s == Completed || s == Failed || s == Cancelled }

// UnmarshalText refuses unknown states.
func (s *State) UnmarshalText(b []byte) error { return parse(s, "state", b, states) }

// Stage is where a handoff is in its life.
type Stage string

// The handoff stages. All from Transferred on are final.
const (
	Requested        Stage = "requested"
	AwaitingApproval Stage = "awaiting_approval"
	Offered          Stage = "offered"
	Accepted         Stage = "accepted"
	Transferred      Stage = "transferred"
	Rejected         Stage = "rejected"
	Expired          Stage = "expired"
	Undeliverable    Stage = "failed"
	DeadLettered     Stage = "parked"
	Withdrawn        Stage = "cancelled"
	AtDesk           Stage = "at_desk" // nobody but people are left: a ticket is open for them
)

var stages = []Stage{
	Requested, AwaitingApproval, Offered, Accepted, Transferred, Rejected, Expired, Undeliverable,
	DeadLettered, Withdrawn, AtDesk,
}

// Stages lists every handoff stage.
func Stages() []Stage { return slices.Clone(stages) }

// Final reports whether the handoff is over.
func (s Stage) Final() bool { return slices.Index(stages, s) >= slices.Index(stages, Transferred) }

// UnmarshalText refuses unknown stages.
func (s *Stage) UnmarshalText(b []byte) error { return parse(s, "stage", b, stages) }

// Kind is what sort of handoff it is.
type Kind string

// The five kinds of handoff.
const (
	Warm       Kind = "warm"       // with its full context
	Cold       Kind = "cold"       // the task's description only; allowed, but flagged
	Supervised Kind = "supervised" // a person or an agent approves before it is offered
	Broadcast  Kind = "broadcast"  // to several receivers: the first wins (claim), or each gets a copy (fan-out)
	Delegation Kind = "delegation" // the sender waits for the result and gets it back
)

var kinds = []Kind{Warm, Cold, Supervised, Broadcast, Delegation}

// Kinds lists every kind.
func Kinds() []Kind { return slices.Clone(kinds) }

// UnmarshalText refuses unknown kinds.
func (k *Kind) UnmarshalText(b []byte) error { return parse(k, "kind", b, kinds) }

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

var reasons = []Reason{
	ReasonTimeout, ReasonError, ReasonCapabilityMismatch, ReasonUserRequest, ReasonEscalation,
	ReasonSpecialization, ReasonRecovery, ReasonLoadShedding, ReasonSupervision,
}

// Reasons lists every reason.
func Reasons() []Reason { return slices.Clone(reasons) }

// UnmarshalText refuses unknown reasons.
func (r *Reason) UnmarshalText(b []byte) error { return parse(r, "reason", b, reasons) }

// Rejection is why a receiver does not take an offer.
type Rejection string

// The typed rejections.
const (
	NotCapable     Rejection = "not_capable"
	Overloaded     Rejection = "overloaded"
	MissingContext Rejection = "missing_context" // the missing fields are named
	Refused        Rejection = "refused"
)

var rejections = []Rejection{NotCapable, Overloaded, MissingContext, Refused}

// Rejections lists every rejection.
func Rejections() []Rejection { return slices.Clone(rejections) }

// UnmarshalText refuses unknown rejections.
func (r *Rejection) UnmarshalText(b []byte) error { return parse(r, "rejection", b, rejections) }

// Priority orders every inbox.
type Priority string

// The priorities, lowest first. The empty priority of a request means Normal.
const (
	Low    Priority = "low"
	Normal Priority = "normal"
	High   Priority = "high"
	Urgent Priority = "urgent"
)

var priorities = []Priority{Low, Normal, High, Urgent}

// Priorities lists every priority, lowest first.
func Priorities() []Priority { return slices.Clone(priorities) }

// Rank is 0 for Low up to 3 for Urgent.
func (p Priority) Rank() int { return max(slices.Index(priorities, p), 0) }

// UnmarshalText refuses unknown priorities.
func (p *Priority) UnmarshalText(b []byte) error { return parse(p, "priority", b, priorities) }

// Tier says as what a candidate stands in a handoff's list of receivers.
type Tier string

// The tiers, in the order in which they are tried.
const (
	TierTarget     Tier = "target"
	TierFallback   Tier = "fallback"
	TierEscalation Tier = "escalation"
)

var tiers = []Tier{TierTarget, TierFallback, TierEscalation}

// UnmarshalText refuses unknown tiers.
func (t *Tier) UnmarshalText(b []byte) error { return parse(t, "tier", b, tiers) }

// ConfirmMode says who lets go after the receiver has accepted.
type ConfirmMode string

// The confirm modes. The empty mode of a request means ConfirmAuto.
const (
	ConfirmAuto     ConfirmMode = "auto"     // acceptance confirms by itself
	ConfirmExplicit ConfirmMode = "explicit" // the source confirms with a call of its own
)

var confirmModes = []ConfirmMode{ConfirmAuto, ConfirmExplicit}

// UnmarshalText refuses unknown modes.
func (m *ConfirmMode) UnmarshalText(b []byte) error { return parse(m, "confirm mode", b, confirmModes) }

// FanInMode says when a parent gets its children's results.
type FanInMode string

// The fan-in modes.
const (
	FanInAll    FanInMode = "all"
	FanInQuorum FanInMode = "quorum"
	FanInFirst  FanInMode = "first"
	FanInNone   FanInMode = "none" // the sender goes on; the children are on their own
)

var fanInModes = []FanInMode{FanInAll, FanInQuorum, FanInFirst, FanInNone}

// UnmarshalText refuses unknown modes.
func (m *FanInMode) UnmarshalText(b []byte) error { return parse(m, "fan-in mode", b, fanInModes) }

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

var constraintKinds = []ConstraintKind{
	ConstraintBudget, ConstraintSecurity, ConstraintFormat, ConstraintPreference,
	ConstraintProhibition,
}

// UnmarshalText refuses unknown kinds.
func (k *ConstraintKind) UnmarshalText(b []byte) error {
	return parse(k, "constraint kind", b, constraintKinds)
}

// ParkCause is the kind of reason for which a task is in the dead-letter queue.
type ParkCause string

// The causes of parking.
const (
	ParkExhausted     ParkCause = "exhausted"      // retries, alternatives and the escalation chain are used up
	ParkLimit         ParkCause = "limit"          // a limit of the task was reached
	ParkBudget        ParkCause = "budget"         // a budget of the task is spent
	ParkDeadline      ParkCause = "deadline"       // the task's deadline has passed
	ParkDependency    ParkCause = "dependency"     // a task it depends on did not complete
	ParkReturned      ParkCause = "returned"       // the handoff came back and nobody owns the task
	ParkOwnerLost     ParkCause = "owner_lost"     // the owner's lease ended and nobody could take over
	ParkNobodyClaimed ParkCause = "nobody_claimed" // people were asked to take it over, and nobody did in time
)

var parkCauses = []ParkCause{
	ParkExhausted, ParkLimit, ParkBudget, ParkDeadline, ParkDependency, ParkReturned, ParkOwnerLost,
	ParkNobodyClaimed,
}

// UnmarshalText refuses unknown causes.
func (c *ParkCause) UnmarshalText(b []byte) error { return parse(c, "park cause", b, parkCauses) }

// parse sets *v to text if it is one of all. The empty text leaves the zero value: "not given".
func parse[T ~string](v *T, what string, text []byte, all []T) error {
	t := T(text)
	if t != "" && !slices.Contains(all, t) {
		names := make([]string, len(all))
		for i, a := range all {
			names[i] = string(a)
		}
		return refusal.New(refusal.Invalid, "use one of "+strings.Join(names, ", "), "%q is not a %s", text, what)
	}
	*v = t
	return nil
}
