package envelope

import (
	"encoding/json"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Version is the document version that this package writes.
const Version = "1.4"

// Envelope is the document that a receiver works from. Its JSON omits empty parts, but for lists whose
// emptiness says something: permissions and allowed values. Times are kept in UTC to the
// microsecond. The zero value is not valid: a task id, a sender and an intent are required.
type Envelope struct {
	// Version is "major.minor". Empty means [Version].
	Version string `json:"version"`
	// Salt is random, in hex, and set by [Seal].
	Salt string `json:"salt,omitempty"`
	// Parent is the digest of the envelope this one follows; empty for a task's first.
	Parent string `json:"parent,omitempty"`
	// CreatedAt is the time at which the envelope was made; ExpiresAt, later than that, the time at which it is stale.
	CreatedAt time.Time `json:"created_at,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// Priority is the priority of the task.
	Priority event.Priority `json:"priority,omitempty"`
	// Hops is the number of changes of owner before this envelope.
	Hops int `json:"hops,omitempty"`
	// Trace is the W3C trace context of the request that made the envelope.
	Trace Trace `json:"trace,omitzero"`

	Handoff Header `json:"handoff"`
	Task    Task   `json:"task"`

	// ConversationSummary is the conversation so far, condensed.
	ConversationSummary string `json:"conversation_summary,omitempty"`
	// KeyFacts and Decisions have ids, so that later envelopes can be compared by id.
	KeyFacts      []Item   `json:"key_facts,omitempty"`
	Decisions     []Item   `json:"decisions,omitempty"`
	OpenQuestions []string `json:"open_questions,omitempty"`

	// TextBy names the authors of what comes from an earlier sender. Since version 1.4.
	TextBy Authors `json:"text_by,omitzero"`
	// Confidence is how sure the sender is of its work, 0 to 1; nil if it is not given.
	Confidence *float64 `json:"confidence,omitempty"`
	// History is the finished work, oldest first.
	History []Step `json:"history,omitempty"`
	// Constraints are the rules that the receiver must follow.
	Constraints    []Constraint `json:"constraints,omitempty"`
	ExpectedOutput Expected     `json:"expected_output,omitzero"`

	// Memory and Artifacts are references that the receiver can fetch; a memory item may carry its text. Conversation is
	// the raw log, oldest first. Since version 1.1.
	Memory       []MemoryRef `json:"memory,omitempty"`
	Artifacts    []Artifact  `json:"artifacts,omitempty"`
	Conversation []Turn      `json:"conversation,omitempty"`
	// Omissions are the parts that this envelope omits, Gaps the references that could not be resolved, and Packing says
	// how it was fitted to its receiver. Since version 1.1.
	Omissions []Omission `json:"omissions,omitempty"`
	Gaps      []Gap      `json:"gaps,omitempty"`
	Packing   Packing    `json:"packing,omitzero"`
	// Dropped counts what was not taken over from earlier envelopes, or not from the record of the task, for a bound, and what a sender gave with
	// a cold handoff. No packing omits it. Since version 1.4.
	Dropped []Dropped `json:"dropped,omitempty"`

	// Extra holds fields of a newer minor version, by name, as JSON.
	Extra Extra `json:"-"`
}

// Extra holds the fields of one JSON object that this version does not define, by name. It may only be filled in documents
// of a newer minor version, and never with the name of a defined field.
type Extra map[string]json.RawMessage

// Header identifies the handoff that the envelope belongs to.
type Header struct {
	TaskID string `json:"task_id"`
	// HandoffID is empty when content is shared without moving ownership.
	HandoffID string       `json:"handoff_id,omitempty"`
	From      string       `json:"from"`
	To        []string     `json:"to,omitempty"`
	Reason    event.Reason `json:"reason,omitempty"`
	// Detail is the reason in the sender's words.
	Detail string     `json:"detail,omitempty"`
	Kind   event.Kind `json:"kind,omitempty"`
	// TimeoutSeconds is how long the receiver has to answer the offer; 0 means the server's default.
	TimeoutSeconds int `json:"timeout_seconds,omitempty"`
	// Permissions are those of the receiver for this task. They only narrow from hop to hop. Nil: not restricted; empty, since version 1.2: none.
	Permissions []string `json:"permissions,omitzero"`
	// Dependencies are ids of tasks that this task waits for.
	Dependencies []string `json:"dependencies,omitempty"`
	// Notes are the sender's additions for the receiver, from its request or its confirmation.
	Notes string `json:"notes,omitempty"`
	// PartOf is the task that this one is a part of; empty if it was not delegated. ResultTo is the principal that delegated it and
	// waits for the result, which goes to the owner of that task; empty if nobody waits. Since version 1.4.
	PartOf   string `json:"part_of,omitempty"`
	ResultTo string `json:"result_to,omitempty"`
	// PartFor is the beginning of the intent of the task that this one is a part of: what it is for. It is never cut further. Since version 1.4.
	PartFor string `json:"part_for,omitempty"`
	// By is the principal that asked for the handoff, or shared the content, and whose words Detail and Notes are: an agent by name, any other as role/name. Empty: the
	// sender, or the server. [Authors] may name another author of the notes. Since version 1.4.
	By string `json:"by,omitempty"`

	Extra Extra `json:"-"`
}

// Task is the context of the task.
type Task struct {
	// Intent is the original request, word for word, in every envelope of the task.
	Intent string `json:"intent"`
	// Deadline is that of the task when the envelope was made. An approval since then has moved it, and a replay may have changed it. Since version 1.4.
	Deadline time.Time `json:"deadline,omitzero"`
	// State is the current state of the work.
	State string `json:"state,omitempty"`
	// Ask is what the receiver must accomplish.
	Ask string `json:"ask,omitempty"`
	// Data is any JSON value. Whole numbers that an IEEE 754 double cannot hold are refused: send them as text.
	Data json.RawMessage `json:"data,omitempty"`

	Extra Extra `json:"-"`
}

// Item is one fact or decision. Ids are unique within their list.
type Item struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// Supersedes is the id of the earlier item that this one replaces.
	Supersedes string `json:"supersedes,omitempty"`
	// Lineage are the ids of the earlier items that it stands for beside that one, because those were replaced before: newest first, at most
	// [MaxLineage]. Since version 1.4.
	Lineage []string `json:"lineage,omitempty"`
	// Reasoning is the reasoning behind it. Since version 1.1.
	Reasoning string `json:"reasoning,omitempty"`
	// By is its author: an agent by name, any other principal as role/name; empty if it is not recorded. Since version 1.4.
	By string `json:"by,omitempty"`
	// WasBy is the author of what the item replaced: the item that it supersedes, or one of its own id. Empty if it replaced nothing, or if
	// that is not recorded. Since version 1.4.
	WasBy string `json:"was_by,omitempty"`
	// EarlierBy are the authors of what was replaced before that, beside By and WasBy: newest first, at most [MaxEarlier]; of more, those in the middle are
	// left out, agents before others, and EarlierMore counts them. Since version 1.4.
	EarlierBy   []string `json:"earlier_by,omitempty"`
	EarlierMore int      `json:"earlier_more,omitempty"`
	// Original is what OriginalBy, the author whom the list of omissions names, said in place of Text: of a pinned or [Vital] item, and of one that replaced words of
	// a principal that is no agent. Since version 1.4.
	Original   string `json:"original,omitempty"`
	OriginalBy string `json:"original_by,omitempty"`
	// Ruled reports that the requester, or a principal that is no agent, has pinned it or made it [Vital]: it comes before what agents pin or find vital.
	// Since version 1.4.
	Ruled bool `json:"ruled,omitempty"`

	Weight
	Extra Extra `json:"-"`
}

// Step is one finished step of the task: the agent, the action and the reason.
type Step struct {
	Time   time.Time `json:"time,omitzero"`
	Agent  string    `json:"agent"`
	Action string    `json:"action"`
	Detail string    `json:"detail,omitempty"`
	// Tool is the tool that the agent called, if the step is a tool call. Since version 1.1.
	Tool string `json:"tool,omitempty"`
	// Recorded reports that the server itself tells the step, from its record: Detail may have words of Agent, Action has none. Of any other
	// step, all words are those of Agent. Since version 1.4.
	Recorded bool `json:"recorded,omitempty"`

	Weight
	Extra Extra `json:"-"`
}

// Constraint is one rule that the receiver must follow, as [event.Constraint] defines it.
type Constraint struct {
	ID   string               `json:"id"`
	Kind event.ConstraintKind `json:"kind"`
	Text string               `json:"text"`
	// Hard constraints must hold; others should hold.
	Hard bool `json:"hard,omitempty"`
	// Origin is the principal that set it: an agent by its bare name; older documents have agent/NAME.
	Origin string `json:"origin,omitempty"`
	// Max is the upper limit, in the unit that Text names; nil for none.
	Max *float64 `json:"max,omitempty"`
	// Allow lists everything that is allowed. Nil: anything; empty, since version 1.2: nothing.
	Allow []string `json:"allow,omitzero"`

	// TextBy, HardBy, MaxBy and AllowBy are the principals that set those parts, where it was not Origin. Since version 1.3.
	TextBy  string `json:"text_by,omitempty"`
	HardBy  string `json:"hard_by,omitempty"`
	MaxBy   string `json:"max_by,omitempty"`
	AllowBy string `json:"allow_by,omitempty"`
	// Added constraints were set by agents that were not the requester; those of the requester and operators win. Since
	// version 1.3.
	Added bool `json:"added,omitempty"`

	Extra Extra `json:"-"`
}

// Expected describes the result that is expected.
type Expected struct {
	// Format is a short name such as "markdown" or "json".
	Format string `json:"format,omitempty"`
	// MaxBytes is the greatest length of the result, in bytes of UTF-8; 0 means no limit.
	MaxBytes int `json:"max_bytes,omitempty"`
	// Criteria are the conditions that a good result meets, in words.
	Criteria []string `json:"criteria,omitempty"`
	// Schema is a JSON Schema, an object, for results in JSON.
	Schema json.RawMessage `json:"schema,omitempty"`

	Extra Extra `json:"-"`
}

// IsZero reports whether nothing is expected; the document then omits the part.
func (x Expected) IsZero() bool {
	return x.Format == "" && x.MaxBytes == 0 && len(x.Criteria) == 0 && len(x.Schema) == 0 && len(x.Extra) == 0
}

// Trace is the W3C trace context.
type Trace struct {
	Parent string `json:"traceparent,omitempty"`
	State  string `json:"tracestate,omitempty"`

	Extra Extra `json:"-"`
}

// IsZero reports whether there is no trace context; the document then omits the part.
func (t Trace) IsZero() bool {
	return t.Parent == "" && t.State == "" && len(t.Extra) == 0
}
