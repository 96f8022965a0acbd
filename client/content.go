package client

import (
	"encoding/json"
	"time"
)

// Point is one fact or decision. The server gives it an id if it has none.
type Point struct {
	ID         string  `json:"id,omitempty"`
	Text       string  `json:"text"`
	Supersedes string  `json:"supersedes,omitempty"` // id of the earlier point that this one replaces
	Reasoning  string  `json:"reasoning,omitempty"`  // omitted for receivers unless the envelope is packed in full
	Pinned     bool    `json:"pinned,omitempty"`     // kept before other points, when a token budget is short
	Importance float64 `json:"importance,omitempty"` // 0 to 1; 0: not set
}

// Step is one thing that the sender did.
type Step struct {
	Action string `json:"action"`
	Detail string `json:"detail,omitempty"`
	Tool   string `json:"tool,omitempty"` // the tool that was called, if the step is such a call
}

// Content is the sender's part of an envelope. The server adds the task's own.
type Content struct {
	Ask        string          `json:"ask,omitempty"`                  // what the receiver must accomplish
	State      string          `json:"current_state,omitempty"`        // of the work
	Summary    string          `json:"conversation_summary,omitempty"` // of the conversation so far, at most 4,000 bytes
	Facts      []Point         `json:"key_facts,omitempty"`            // facts of earlier envelopes stay unless superseded
	Decisions  []Point         `json:"decisions,omitempty"`
	Questions  []string        `json:"open_questions,omitzero"` // at most 4,000 bytes together; replaces the list of the envelope before; nil: that stays; empty: none is open
	Steps      []Step          `json:"steps,omitempty"`         // added to the history
	Data       json.RawMessage `json:"data,omitempty"`          // any JSON; replaces that of the envelope before
	Confidence *float64        `json:"confidence,omitempty"`    // 0 to 1
	Notes      string          `json:"notes,omitempty"`
	ExpiresAt  time.Time       `json:"expires_at,omitzero"` // when it is stale
	Memory     []MemoryAsk     `json:"memory,omitempty"`    // memory items that go along; those of the envelope before stay
	Recent     int             `json:"recent,omitempty"`    // how many recent memory items go along: those that fit the task best
	Artifacts  []Artifact      `json:"artifacts,omitempty"` // files that go along; those of the envelope before stay
}

// IsZero reports whether the content is empty.
func (c Content) IsZero() bool {
	return c.Ask == "" && c.State == "" && c.Summary == "" && len(c.Facts) == 0 && len(c.Decisions) == 0 &&
		c.Questions == nil && len(c.Steps) == 0 && len(c.Data) == 0 && c.Confidence == nil && c.Notes == "" &&
		c.ExpiresAt.IsZero() && len(c.Memory) == 0 && c.Recent == 0 && len(c.Artifacts) == 0
}

// MemoryAsk names a memory item that goes along. Version 0 is the newest.
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
