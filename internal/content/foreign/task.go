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

// Format is a supported document format.
type Format string

// The formats.
const (
	HandoffDocument Format = "handoff-document" // task_context, audit_trail, handoff_reason
	HandoffContext  Format = "handoff-context"  // original_task, key_facts, decisions_made, confidence
	MemoryEnvelope  Format = "memory-envelope"  // task_summary, memory_refs, constraints
	Envelope        Format = "envelope"         // version, handoff, task: of another Trapeze server
)

var formats = []Format{HandoffDocument, HandoffContext, MemoryEnvelope, Envelope}

// Formats lists every format.
func Formats() []Format { return slices.Clone(formats) }

// HandoffFields are the names of the fields that count only if the task is handed to somebody: the reason, the receiver and the most
// tokens of its context; empty if the format has none. [Task].Claimed has all of them.
func (f Format) HandoffFields() (reason, receiver, tokens string) {
	switch f {
	case HandoffDocument:
		return "handoff_reason", "to_agent", ""
	case HandoffContext:
		return "reason", "target_agent", ""
	case MemoryEnvelope:
		return "", "target_agent", "constraints.max_tokens"
	default:
		return "handoff.reason", "handoff.to", ""
	}
}

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

// Task is the content of a document as parts of a new task. Fields that the document does not give are zero.
type Task struct {
	Format Format `json:"format"`
	// Intent is what is wanted, word for word; never empty.
	Intent   string         `json:"intent"`
	Content  Content        `json:"content"`
	Target   string         `json:"target,omitempty"` // the agent that is to receive it
	Reason   event.Reason   `json:"reason,omitempty"`
	Detail   string         `json:"detail,omitempty"` // the reason in the words of the document, if it is not an [event.Reason]
	Priority event.Priority `json:"priority,omitempty"`
	// Permissions are those that the document grants; empty but not nil if it grants none explicitly.
	Permissions []string           `json:"permissions,omitzero"`
	Timeouts    event.Timeouts     `json:"timeouts,omitzero"`
	Deadline    time.Time          `json:"deadline,omitzero"` // of the task
	Expires     time.Time          `json:"expires,omitzero"`  // of the document; may be in the past
	Constraints []event.Constraint `json:"constraints,omitempty"`
	// MaxTokens is the token budget of the receiver's context; 0 if it is not given.
	MaxTokens int `json:"max_tokens,omitempty"`
	// Expected describes the expected result.
	Expected event.Expected `json:"expected,omitzero"`
	// Artifacts are files by the digest of their content, which this server may have or not.
	Artifacts []envelope.Artifact `json:"artifacts,omitempty"`
	// Envelope is the envelope from which the first one of the task is made, as canonical JSON; only for the format
	// [Envelope]. Content does not repeat it.
	Envelope json.RawMessage `json:"envelope,omitempty"`
	// Memory are ids of memory items in the other system; of an envelope, they may be items of this server.
	Memory []string `json:"memory,omitempty"`
	// IncludeRecent is the number of recent memory items to include. IncludePins says whether to include pinned ones.
	IncludeRecent int  `json:"include_recent,omitempty"`
	IncludePins   bool `json:"include_pins,omitempty"`
	// Claimed is what the document claims about its origin and its history, verbatim: a JSON object with "format" and the
	// unchanged fields.
	Claimed json.RawMessage `json:"claimed_history"`
}

// Content is what the receiver is given besides the intent.
type Content struct {
	Ask        string   `json:"ask,omitempty"`
	State      string   `json:"current_state,omitempty"`
	Summary    string   `json:"conversation_summary,omitempty"`
	Facts      []Point  `json:"key_facts,omitempty"`
	Decisions  []Point  `json:"decisions,omitempty"`
	Questions  []string `json:"open_questions,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"` // 0 to 1
	Notes      string   `json:"notes,omitempty"`
	// Data is a JSON object of the fields without a counterpart, under their own names; nil if there are none.
	Data json.RawMessage `json:"data,omitempty"`
}

// Point is one fact or decision. The ids are assigned here: f1, f2, … and d1, d2, …
type Point struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Note says what happened to a field that is not copied as it is.
type Note struct {
	Field string `json:"field"`
	Text  string `json:"text"`
}

func (n Note) String() string { return n.Field + ": " + n.Text }
