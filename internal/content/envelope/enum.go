package envelope

import (
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// The closed sets of packing. Decoding refuses a value that is not in the set; the empty value means "not given".

// Strategy is how an envelope is fitted to a budget.
type Strategy string

// The four strategies.
const (
	StrategyFull        Strategy = "full"         // everything, or a refusal
	StrategySummaryRefs Strategy = "summary_refs" // the state of the work, facts and decisions; the receiver fetches the rest
	StrategyPriority    Strategy = "priority"     // pinned parts, then the most valuable per token
	StrategyLazy        Strategy = "lazy"         // the state of the work and references; the receiver fetches the rest
)

var strategies = []Strategy{StrategyFull, StrategySummaryRefs, StrategyPriority, StrategyLazy}

// Strategies lists every strategy. The caller owns the slice.
func Strategies() []Strategy { return slices.Clone(strategies) }

// UnmarshalText refuses unknown strategies.
func (s *Strategy) UnmarshalText(b []byte) error { return parse(s, "strategy", b, strategies) }

// PartKind is a kind of part that may be omitted.
type PartKind string

// The kinds of parts. The first five are single texts, the others entries of lists.
const (
	PartState        PartKind = "state"
	PartSummary      PartKind = "summary"
	PartData         PartKind = "data"
	PartDetail       PartKind = "detail"
	PartNotes        PartKind = "notes"
	PartFact         PartKind = "fact"
	PartDecision     PartKind = "decision"
	PartReasoning    PartKind = "reasoning" // of the decision or fact with that id
	PartStep         PartKind = "step"
	PartMemory       PartKind = "memory"
	PartArtifact     PartKind = "artifact"
	PartConversation PartKind = "conversation"
)

var partKinds = []PartKind{
	PartState, PartSummary, PartData, PartDetail, PartNotes, PartFact, PartDecision, PartReasoning, PartStep,
	PartMemory, PartArtifact, PartConversation,
}

// PartKinds lists every kind of part. The caller owns the slice.
func PartKinds() []PartKind { return slices.Clone(partKinds) }

// UnmarshalText refuses unknown kinds.
func (k *PartKind) UnmarshalText(b []byte) error { return parse(k, "kind of part", b, partKinds) }

// OmissionReason is the reason for omitting a part.
type OmissionReason string

// The reasons for omissions. All but the first apply whatever the budget, unless the strategy is full or the part is pinned.
const (
	OverBudget OmissionReason = "budget"    // over the budget
	RawLog     OmissionReason = "log"       // a raw conversation, of which there is a summary
	Settled    OmissionReason = "settled"   // the reasoning of a fact or decision that is settled
	ToolCall   OmissionReason = "tool_call" // a tool call of the sender
	OnDemand   OmissionReason = "on_demand" // the receiver fetches it when it needs it
)

var omissionReasons = []OmissionReason{OverBudget, RawLog, Settled, ToolCall, OnDemand}

// OmissionReasons lists every reason. The caller owns the slice.
func OmissionReasons() []OmissionReason { return slices.Clone(omissionReasons) }

// UnmarshalText refuses unknown reasons.
func (r *OmissionReason) UnmarshalText(b []byte) error {
	return parse(r, "reason for an omission", b, omissionReasons)
}

// GapReason is the reason why a reference could not be resolved.
type GapReason string

// The reasons for gaps.
const (
	GapNotFound    GapReason = "not_found"
	GapForgotten   GapReason = "forgotten"
	GapNotReadable GapReason = "not_readable" // by the receiver
)

var gapReasons = []GapReason{GapNotFound, GapForgotten, GapNotReadable}

// GapReasons lists every reason. The caller owns the slice.
func GapReasons() []GapReason { return slices.Clone(gapReasons) }

// UnmarshalText refuses unknown reasons.
func (r *GapReason) UnmarshalText(b []byte) error { return parse(r, "reason for a gap", b, gapReasons) }

// Listing is the form in which the prompt lists omissions. The document itself lists them in full.
type Listing string

// The listings, from the longest to the shortest.
const (
	ListEach   Listing = "each"   // a line for each omission and gap
	ListGroups Listing = "groups" // a line for each kind and reason
	ListTotal  Listing = "total"  // one line
)

var listings = []Listing{ListEach, ListGroups, ListTotal}

// Listings lists every listing. The caller owns the slice.
func Listings() []Listing { return slices.Clone(listings) }

// UnmarshalText refuses unknown listings.
func (l *Listing) UnmarshalText(b []byte) error { return parse(l, "listing", b, listings) }

func parse[T ~string](v *T, what string, b []byte, set []T) error {
	if s := T(b); len(b) == 0 || slices.Contains(set, s) {
		*v = s
		return nil
	}
	return refusal.New(refusal.Invalid, "see the envelope's schema for the values", "%.40q is not a %s", b, what)
}
