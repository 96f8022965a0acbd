package envelope

import (
	"encoding/json"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Version is the document version that this package writes.
const Version = "1.1"

// Envelope is the document that a receiver works from. Empty parts are left out of its JSON. Times are kept in UTC
// to the microsecond. The zero value is not valid: a task id, a sender and an intent are the least.
type Envelope struct {
	// Version is "major.minor". Empty means [Version].
	Version string `json:"version"`
	// Salt is random, in hex, and set by [Seal].
	Salt string `json:"salt,omitempty"`
	// Parent is the digest of the envelope this one follows; empty for a task's first.
	Parent string `json:"parent,omitempty"`
	// CreatedAt is when the envelope was made; ExpiresAt, later than that, when its content is stale.
	CreatedAt time.Time `json:"created_at,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// Priority is the task's.
	Priority event.Priority `json:"priority,omitempty"`
	// Hops counts the changes of owner before this envelope.
	Hops int `json:"hops,omitempty"`
	// Trace is the W3C trace context of the request that made the envelope.
	Trace Trace `json:"trace,omitzero"`

	Handoff Header `json:"handoff"`
	Task    Task   `json:"task"`

	// ConversationSummary condenses what was said so far.
	ConversationSummary string `json:"conversation_summary,omitempty"`
	// KeyFacts and Decisions have ids, so that later envelopes can be compared by id.
	KeyFacts      []Item   `json:"key_facts,omitempty"`
	Decisions     []Item   `json:"decisions,omitempty"`
	OpenQuestions []string `json:"open_questions,omitempty"`
	// Confidence is how sure the sender is of its work, 0 to 1; nil if it did not say.
	Confidence *float64 `json:"confidence,omitempty"`
	// History is who did what, oldest first.
	History []Step `json:"history,omitempty"`
	// Constraints and guardrails that the receiver must keep to.
	Constraints    []Constraint `json:"constraints,omitempty"`
	ExpectedOutput Expected     `json:"expected_output,omitzero"`

	// Memory and Artifacts are what the receiver can fetch; a memory item's text may have come along. Conversation is
	// the raw log, oldest first. Since version 1.1.
	Memory       []MemoryRef `json:"memory,omitempty"`
	Artifacts    []Artifact  `json:"artifacts,omitempty"`
	Conversation []Turn      `json:"conversation,omitempty"`
	// Omissions, Gaps and Packing say what this envelope left out or could not get, and how it was fitted to its
	// receiver. Since version 1.1.
	Omissions []Omission `json:"omissions,omitempty"`
	Gaps      []Gap      `json:"gaps,omitempty"`
	Packing   Packing    `json:"packing,omitzero"`

	// Extra holds fields of a newer minor version, by name, as JSON.
	Extra Extra `json:"-"`
}

// Extra holds the fields of one JSON object that this version does not know, by name. It may only be filled in
// documents of a newer minor version, and never with the name of a known field.
type Extra map[string]json.RawMessage

// Header says which handoff the envelope belongs to.
type Header struct {
	TaskID string `json:"task_id"`
	// HandoffID is empty when content is shared without moving ownership.
	HandoffID string       `json:"handoff_id,omitempty"`
	From      string       `json:"from"`
	To        []string     `json:"to,omitempty"`
	Reason    event.Reason `json:"reason,omitempty"`
	// Detail is the sender's own words on the reason.
	Detail string     `json:"detail,omitempty"`
	Kind   event.Kind `json:"kind,omitempty"`
	// TimeoutSeconds is how long the receiver has to answer the offer; 0 means the server's default.
	TimeoutSeconds int `json:"timeout_seconds,omitempty"`
	// Permissions the receiver has for this task. They only narrow from hop to hop.
	Permissions []string `json:"permissions,omitempty"`
	// Dependencies are ids of tasks that this task waits for.
	Dependencies []string `json:"dependencies,omitempty"`
	// Notes are what the sender adds for the receiver, when it requests or when it confirms.
	Notes string `json:"notes,omitempty"`

	Extra Extra `json:"-"`
}

// Task is the task's context.
type Task struct {
	// Intent is the original request, word for word, in every envelope of the task.
	Intent string `json:"intent"`
	// State is where the work stands now.
	State string `json:"state,omitempty"`
	// Ask is what the receiver must accomplish.
	Ask string `json:"ask,omitempty"`
	// Data is any JSON value. Whole numbers that do not survive as IEEE 754 doubles are refused: send them as text.
	Data json.RawMessage `json:"data,omitempty"`

	Extra Extra `json:"-"`
}

// Item is one fact or decision. Ids are unique within their list.
type Item struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// Supersedes is the id of the earlier item that this one replaces.
	Supersedes string `json:"supersedes,omitempty"`
	// Reasoning is what led to it. Since version 1.1.
	Reasoning string `json:"reasoning,omitempty"`

	Weight
	Extra Extra `json:"-"`
}

// Step is one thing that was done on the task: by whom, what, and why.
type Step struct {
	Time   time.Time `json:"time,omitzero"`
	Agent  string    `json:"agent"`
	Action string    `json:"action"`
	Detail string    `json:"detail,omitempty"`
	// Tool is the tool that the agent called, if the step is such a call. Since version 1.1.
	Tool string `json:"tool,omitempty"`

	Weight
	Extra Extra `json:"-"`
}

// Constraint is one rule the receiver must keep to, as package handoff has it.
type Constraint struct {
	ID   string               `json:"id"`
	Kind event.ConstraintKind `json:"kind"`
	Text string               `json:"text"`
	// Hard constraints must hold; the others should.
	Hard bool `json:"hard,omitempty"`
	// Origin is the principal that set it.
	Origin string `json:"origin,omitempty"`
	// Max is the most that is allowed, in the unit that Text names; nil if there is none.
	Max *float64 `json:"max,omitempty"`
	// Allow lists what is allowed, and nothing else is; empty if it does not restrict.
	Allow []string `json:"allow,omitempty"`

	Extra Extra `json:"-"`
}

// Expected says what the result must look like.
type Expected struct {
	// Format is a short name such as "markdown" or "json".
	Format string `json:"format,omitempty"`
	// MaxBytes is the length of the result in UTF-8; 0 means no limit.
	MaxBytes int `json:"max_bytes,omitempty"`
	// Criteria are what a good result fulfils, in words.
	Criteria []string `json:"criteria,omitempty"`
	// Schema is a JSON Schema, an object, for results in JSON.
	Schema json.RawMessage `json:"schema,omitempty"`

	Extra Extra `json:"-"`
}

// IsZero reports whether nothing is expected; the part is then left out of the document.
func (x Expected) IsZero() bool {
	return x.Format == "" && x.MaxBytes == 0 && len(x.Criteria) == 0 && len(x.Schema) == 0 && len(x.Extra) == 0
}

// Trace is the W3C trace context.
type Trace struct {
	Parent string `json:"traceparent,omitempty"`
	State  string `json:"tracestate,omitempty"`

	Extra Extra `json:"-"`
}

// IsZero reports whether there is no trace context; the part is then left out of the document.
func (t Trace) IsZero() bool {
	return t.Parent == "" && t.State == "" && len(t.Extra) == 0
}
