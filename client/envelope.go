package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/client/wire"
)

// Sheet is an envelope in the form that its receiver reads.
type Sheet struct {
	Digest string `json:"digest"`
	// Sealed is the digest of the sealed envelope, if this is a copy of it: without memory items that were forgotten since.
	Sealed string `json:"sealed,omitempty"`
	// Source is the digest of the envelope that was sent, if this one was packed for its receiver. The source has the parts
	// that this one lists as omitted: see [ContentInput].
	Source   string          `json:"source,omitempty"`
	Envelope json.RawMessage `json:"envelope"`
	Prompt   string          `json:"prompt,omitempty"`
	Copies   []Copy          `json:"copies,omitempty"` // in the major versions that were asked for
}

// Copy is an envelope in one major of its schema.
type Copy struct {
	Major    int             `json:"major"`
	Of       string          `json:"of"` // digest of the envelope that it was converted from
	Envelope json.RawMessage `json:"envelope"`
	Lost     []string        `json:"lost,omitempty"` // fields that its major version does not have
}

// ContentInput says how content is read. The zero value reads the envelope that the receiver gets.
type ContentInput struct {
	Render bool // also as a prompt
	Source bool // the envelope that was sent, not the one that was packed for its receiver
	// Majors are further major versions of the envelope's schema to return it in.
	Majors []int
}

// Content fetches the envelope of a task, a handoff or a share; the id says which. The read is recorded.
func (c *Client) Content(ctx context.Context, id string, in ContentInput) (Sheet, error) {
	of := "tasks"
	switch {
	case strings.Contains(id, ".h"):
		of = "handoffs"
	case strings.Contains(id, ".s"):
		of = "shares"
	}
	majors := make([]string, len(in.Majors))
	for i, major := range in.Majors {
		majors[i] = strconv.Itoa(major)
	}
	q := wire.Query{}
	q.Flag("render", in.Render)
	q.Flag("source", in.Source)
	q.Text("majors", strings.Join(majors, ","))
	return ask[Sheet](ctx, c, http.MethodGet, path(of, id, "content"), q, nil)
}

// Pack says how an envelope is packed for its receivers. The zero value packs by priority, up to half of a receiver's context
// window if that is set.
type Pack struct {
	Tokens   int      `json:"tokens,omitempty"`   // the most that the prompt may have; 0: as the receiver's window allows
	Strategy string   `json:"strategy,omitempty"` // full, summary_refs, priority or lazy; empty: priority
	Pinned   []string `json:"pinned,omitempty"`   // parts to be kept before others, like fact:f1, memory:ID or data
}

// Strategies lists the values of [Pack].Strategy.
func Strategies() []string { return []string{"full", "summary_refs", "priority", "lazy"} }

// PreviewInput names the receiver that an envelope would be packed for, and how.
type PreviewInput struct {
	To      string  `json:"to,omitempty"` // an agent; empty: no particular one
	Content Content `json:"content,omitzero"`
	Pack    Pack    `json:"pack,omitzero"`
}

// Preview is the envelope that a receiver would get.
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
