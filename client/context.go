package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Point is one fact or decision. Without an id it gets one.
type Point struct {
	ID         string  `json:"id,omitempty"`
	Text       string  `json:"text"`
	Supersedes string  `json:"supersedes,omitempty"` // id of the earlier point that this one replaces
	Reasoning  string  `json:"reasoning,omitempty"`  // what led to it; left out of what a receiver gets unless it is packed in full
	Pinned     bool    `json:"pinned,omitempty"`     // comes before what is not, when a token budget is short
	Importance float64 `json:"importance,omitempty"` // 0 to 1; 0: unknown
}

// Step is one thing that the sender did.
type Step struct {
	Action string `json:"action"`
	Detail string `json:"detail,omitempty"`
	Tool   string `json:"tool,omitempty"` // the tool that was called, if the step is such a call
}

// Content is what a sender puts into an envelope. What the task knows already comes along by itself.
type Content struct {
	Ask        string          `json:"ask,omitempty"`                  // what the receiver must accomplish
	State      string          `json:"current_state,omitempty"`        // where the work stands now
	Summary    string          `json:"conversation_summary,omitempty"` // what was said so far, condensed
	Facts      []Point         `json:"key_facts,omitempty"`            // facts of earlier envelopes stay unless superseded
	Decisions  []Point         `json:"decisions,omitempty"`
	Questions  []string        `json:"open_questions,omitempty"` // replaces the list of the envelope before
	Steps      []Step          `json:"steps,omitempty"`          // added to the history
	Data       json.RawMessage `json:"data,omitempty"`           // any JSON; replaces that of the envelope before
	Confidence *float64        `json:"confidence,omitempty"`     // 0 to 1
	Notes      string          `json:"notes,omitempty"`
	ExpiresAt  time.Time       `json:"expires_at,omitzero"` // when what this says is stale
	Memory     []MemoryAsk     `json:"memory,omitempty"`    // memory items that go along; those of the envelope before stay
	Recent     int             `json:"recent,omitempty"`    // so many recent items go along too: those that fit the task best
	Artifacts  []Artifact      `json:"artifacts,omitempty"` // files that go along; those of the envelope before stay
}

// MemoryAsk names a memory item that is to go along. Version 0 is the newest.
type MemoryAsk struct {
	ID      string `json:"id"`
	Version int    `json:"version,omitempty"`
}

// Artifact refers to a file by the digest of its content.
type Artifact struct {
	Digest    string `json:"digest"`
	Name      string `json:"name,omitempty"`
	MediaType string `json:"media_type,omitempty"`
}

// IsZero reports whether there is nothing in it.
func (c Content) IsZero() bool {
	return c.Ask == "" && c.State == "" && c.Summary == "" && len(c.Facts) == 0 && len(c.Decisions) == 0 &&
		c.Questions == nil && len(c.Steps) == 0 && len(c.Data) == 0 && c.Confidence == nil && c.Notes == "" &&
		c.ExpiresAt.IsZero() && len(c.Memory) == 0 && c.Recent == 0 && len(c.Artifacts) == 0
}

// Pack says how an envelope is packed for its receivers. The zero value packs up to half of a receiver's context window,
// where that is known, by priority.
type Pack struct {
	Tokens   int      `json:"tokens,omitempty"`   // the most that the prompt may have; 0: as the receiver's window allows
	Strategy string   `json:"strategy,omitempty"` // full, summary_refs, priority or lazy
	Pinned   []string `json:"pinned,omitempty"`   // parts to be kept before others, like fact:f1, memory:ID or data
}

// Note says what became of a field that was not simply taken over.
type Note struct {
	Field string `json:"field"`
	Text  string `json:"text"`
}

// PreviewInput says for which receiver an envelope would be packed, and how.
type PreviewInput struct {
	To      string  `json:"to,omitempty"` // an agent; empty: no particular one
	Content Content `json:"content,omitzero"`
	Pack    Pack    `json:"pack,omitzero"`
}

// Preview is what a receiver would get.
type Preview struct {
	Envelope json.RawMessage `json:"envelope"`
	Prompt   string          `json:"prompt"`
	// Tokens is what the prompt has, of Budget (0: none), as Tokenizer counts; Estimate: an upper bound.
	Tokens      int     `json:"tokens"`
	Budget      int     `json:"budget,omitempty"`
	Tokenizer   string  `json:"tokenizer"`
	Estimate    bool    `json:"estimate,omitempty"`
	Utilisation float64 `json:"utilisation,omitempty"` // tokens by budget
	// Completeness is references resolved by references requested, 0 to 1.
	Completeness float64 `json:"completeness"`
	Version      string  `json:"version"` // of the envelope's schema
}

// PreviewEnvelope packs the next envelope of a task without sending it. Nothing changes.
func (c *Client) PreviewEnvelope(ctx context.Context, task string, in PreviewInput) (Preview, error) {
	return ask[Preview](ctx, c, http.MethodPost, path("tasks", task, "preview"), nil, in)
}

// Drift reports what each hop of a task kept, changed, left out and dropped.
func (c *Client) Drift(ctx context.Context, task string) (Drift, error) {
	return ask[Drift](ctx, c, http.MethodGet, path("tasks", task, "drift"), nil, nil)
}
