package foreign

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Format is one of the formats that are understood.
type Format string

// The formats.
const (
	HandoffDocument Format = "handoff-document" // task_context, audit_trail, handoff_reason
	HandoffContext  Format = "handoff-context"  // original_task, key_facts, decisions_made, confidence
	MemoryEnvelope  Format = "memory-envelope"  // task_summary, memory_refs, constraints
	Envelope        Format = "envelope"         // version, handoff, task: of this system, from another server
)

var formats = []Format{HandoffDocument, HandoffContext, MemoryEnvelope, Envelope}

// Formats lists every format.
func Formats() []Format { return slices.Clone(formats) }

// UnmarshalText refuses unknown formats.
func (f *Format) UnmarshalText(b []byte) error {
	if !slices.Contains(formats, Format(b)) {
		return refusal.New(refusal.Invalid, "use one of "+list(formats), "%.40q is not a format", b)
	}
	*f = Format(b)
	return nil
}

func list[T ~string](all []T) string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = string(v)
	}
	return strings.Join(names, ", ")
}

// Task is what a document says, in the terms of a task of ours. Fields it says nothing about are zero.
type Task struct {
	Format Format `json:"format"`
	// Intent is what is wanted, word for word; never empty.
	Intent   string         `json:"intent"`
	Content  Content        `json:"content"`
	Target   string         `json:"target,omitempty"` // the agent it is meant for
	Reason   event.Reason   `json:"reason,omitempty"`
	Detail   string         `json:"detail,omitempty"` // the reason in the document's words, if it is none of ours
	Priority event.Priority `json:"priority,omitempty"`
	// Permissions that the document grants; empty but not nil if it says that there are none.
	Permissions []string           `json:"permissions,omitzero"`
	Timeouts    event.Timeouts     `json:"timeouts,omitzero"`
	Deadline    time.Time          `json:"deadline,omitzero"` // of the task
	Expires     time.Time          `json:"expires,omitzero"`  // of what the document says; may be past
	Constraints []event.Constraint `json:"constraints,omitempty"`
	// MaxTokens is the most tokens the receiver's context may have; 0 if it does not say.
	MaxTokens int `json:"max_tokens,omitempty"`
	// Expected is what the result must look like.
	Expected event.Expected `json:"expected,omitzero"`
	// Artifacts are files by the digest of their content, which may be here or not.
	Artifacts []envelope.Artifact `json:"artifacts,omitempty"`
	// Envelope is what the first envelope of the task starts from, as canonical JSON; only of the format [Envelope]. What it
	// says is not in Content again.
	Envelope json.RawMessage `json:"envelope,omitempty"`
	// Memory are the ids that the other system gave to memories: references that nothing of ours resolves.
	Memory []string `json:"memory,omitempty"`
	// IncludeRecent is how many recent memories are to go along, IncludePins whether pinned ones are.
	IncludeRecent int  `json:"include_recent,omitempty"`
	IncludePins   bool `json:"include_pins,omitempty"`
	// Claimed is where the document says it comes from and what it says has happened, verbatim: a JSON object with
	// "format" and the fields as they were.
	Claimed json.RawMessage `json:"claimed_history"`
}

// Content is what the receiver is told beside the intent.
type Content struct {
	Ask        string   `json:"ask,omitempty"`
	State      string   `json:"current_state,omitempty"`
	Summary    string   `json:"conversation_summary,omitempty"`
	Facts      []Point  `json:"key_facts,omitempty"`
	Decisions  []Point  `json:"decisions,omitempty"`
	Questions  []string `json:"open_questions,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"` // 0 to 1
	Notes      string   `json:"notes,omitempty"`
	// Data is a JSON object with the fields that have no place elsewhere, under their own names; nil if there are none.
	Data json.RawMessage `json:"data,omitempty"`
}

// Point is one fact or decision, with an id that is ours: f1, f2, … and d1, d2, …
type Point struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Note says what became of a field that is not simply taken over.
type Note struct {
	Field string `json:"field"`
	Text  string `json:"text"`
}

func (n Note) String() string { return n.Field + ": " + n.Text }
