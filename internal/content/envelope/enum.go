package envelope

import "github.com/trapezehq/trapeze/internal/domain/event"

// The closed sets of packing. Decoding refuses a value that is not in the set; the empty value means "not given".

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

// PartKinds lists every kind of part.
var PartKinds = event.NewSet("a kind of part",
	PartState, PartSummary, PartData, PartDetail, PartNotes, PartFact, PartDecision, PartReasoning, PartStep,
	PartMemory, PartArtifact, PartConversation,
)

func (k *PartKind) UnmarshalText(b []byte) error { return PartKinds.Decode(k, b) }

// OmissionReason is the reason for omitting a part.
type OmissionReason string

// The reasons for omissions. All but the first two apply whatever the budget, unless the strategy is full or the part is pinned.
const (
	OverBudget OmissionReason = "budget"    // over the budget
	OverShare  OmissionReason = "share"     // over the budget: important beyond what its author can make so
	RawLog     OmissionReason = "log"       // a raw conversation, of which there is a summary
	Settled    OmissionReason = "settled"   // the reasoning of a fact or decision that is settled
	ToolCall   OmissionReason = "tool_call" // a tool call of the sender
	OnDemand   OmissionReason = "on_demand" // the receiver fetches it when it needs it
)

// OmissionReasons lists every reason.
var OmissionReasons = event.NewSet("a reason for an omission", OverBudget, OverShare, RawLog, Settled, ToolCall, OnDemand)

func (r *OmissionReason) UnmarshalText(b []byte) error { return OmissionReasons.Decode(r, b) }

// GapReason is the reason why a reference could not be resolved.
type GapReason string

// The reasons for gaps.
const (
	GapNotFound    GapReason = "not_found"
	GapForgotten   GapReason = "forgotten"
	GapNotReadable GapReason = "not_readable" // by the receiver
	GapReplaced    GapReason = "replaced"     // a fact or decision, by the content that it was given in: no envelope has its words. Since version 1.4.
)

// GapReasons lists every reason.
var GapReasons = event.NewSet("a reason for a gap", GapNotFound, GapForgotten, GapNotReadable, GapReplaced)

func (r *GapReason) UnmarshalText(b []byte) error { return GapReasons.Decode(r, b) }

// DroppedKind is a kind of entries that an envelope does not have for a bound.
type DroppedKind string

// The kinds. Those from answers to changes were never a step of an envelope. Pins and turns are not in the record of the task: a search finds those
// items, and the conversation has the turns.
const (
	DroppedSteps   DroppedKind = "steps"   // of the history
	DroppedAnswers DroppedKind = "answers" // of people
	DroppedNotes   DroppedKind = "notes"   // progress notes
	DroppedChanges DroppedKind = "changes" // of hands; delegations and their results
	DroppedFiles   DroppedKind = "files"
	DroppedMemory  DroppedKind = "memory" // items
	DroppedPins    DroppedKind = "pins"   // memory items that are pinned
	DroppedTurns   DroppedKind = "turns"  // of the conversation
	DroppedGaps    DroppedKind = "gaps"
)

// The kinds of what a sender gave with a cold handoff, which leaves it out, and of what the task had before. Its receiver can read neither: both are told.
const (
	SentTexts     DroppedKind = "sent_texts" // the state, the summary and the data
	SentFacts     DroppedKind = "sent_facts"
	SentDecisions DroppedKind = "sent_decisions"
	SentQuestions DroppedKind = "sent_questions"
	SentSteps     DroppedKind = "sent_steps"
	SentMemory    DroppedKind = "sent_memory" // items that it asked for
	SentFiles     DroppedKind = "sent_files"

	ColdTexts, ColdFacts, ColdDecisions, ColdQuestions DroppedKind = "cold_texts", "cold_facts", "cold_decisions", "cold_questions"
	ColdSteps, ColdMemory, ColdFiles                   DroppedKind = "cold_steps", "cold_memory", "cold_files"
)

// DroppedKinds lists every kind.
var DroppedKinds = event.NewSet("a kind of dropped entries",
	DroppedSteps, DroppedAnswers, DroppedNotes, DroppedChanges, DroppedFiles, DroppedMemory, DroppedPins, DroppedTurns, DroppedGaps,
	SentTexts, SentFacts, SentDecisions, SentQuestions, SentSteps, SentMemory, SentFiles,
	ColdTexts, ColdFacts, ColdDecisions, ColdQuestions, ColdSteps, ColdMemory, ColdFiles)

func (k *DroppedKind) UnmarshalText(b []byte) error { return DroppedKinds.Decode(k, b) }

// Listing is the form in which the prompt lists omissions. The document itself lists them in full.
type Listing string

// The listings, from the longest to the shortest.
const (
	ListEach   Listing = "each"   // a line for each omission and gap
	ListGroups Listing = "groups" // a line for each kind and reason
	ListTotal  Listing = "total"  // one line
)

// Listings lists every listing.
var Listings = event.NewSet("a listing", ListEach, ListGroups, ListTotal)

func (l *Listing) UnmarshalText(b []byte) error { return Listings.Decode(l, b) }
