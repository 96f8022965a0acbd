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
	Digest    string          `json:"digest"`
	Sealed    string          `json:"sealed,omitempty"` // digest of the sealed envelope, if this is a copy of it: without memory items that were forgotten since
	Source    string          `json:"source,omitempty"` // digest of the envelope that was sent, if this one was packed for its receiver: it has the parts that this one omits
	Envelope  json.RawMessage `json:"envelope"`
	Prompt    string          `json:"prompt,omitempty"`
	For       string          `json:"for,omitempty"`       // the agent that would be given this if it accepted now; nobody has accepted, and it is not sealed
	Undecided bool            `json:"undecided,omitempty"` // several may take it: this is the whole, of which one with a smaller token budget is given less
	Copies    []Copy          `json:"copies,omitempty"`    // in the major versions that were asked for
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
	Render bool  // also as a prompt
	Via    Via   // with Render: how the reader came; empty: the HTTP API
	Source bool  // the envelope that was sent, not the one that was packed for its receiver
	Majors []int // further major versions of the envelope's schema to return it in
}

// Content fetches the envelope of a task, a handoff or a share; the id says which. The read is recorded.
func (c *Client) Content(ctx context.Context, id string, in ContentInput) (Sheet, error) {
	majors := make([]string, len(in.Majors))
	for i, major := range in.Majors {
		majors[i] = strconv.Itoa(major)
	}
	q := wire.Query{}
	q.Flag("render", in.Render)
	q.Text("via", string(in.Via))
	q.Flag("source", in.Source)
	q.Text("majors", strings.Join(majors, ","))
	return ask[Sheet](ctx, c, http.MethodGet, path(contentOf(id), id, "content"), q, nil)
}

// contentOf is the collection of an id whose content is read.
func contentOf(id string) string {
	switch {
	case strings.Contains(id, ".h"):
		return "handoffs"
	case strings.Contains(id, ".s"):
		return "shares"
	}
	return "tasks"
}

// Via is how a reader came to a text of the server: calls that the text names are written in this form.
type Via string

// The ways. The empty value means ViaHTTP.
const (
	ViaHTTP Via = "http"
	ViaCLI  Via = "cli"
	ViaMCP  Via = "mcp"
)

// Vias lists all ways.
func Vias() []Via { return []Via{ViaHTTP, ViaCLI, ViaMCP} }

// PartsInput names parts of an envelope.
type PartsInput struct {
	// Parts are names such as fact:f12, decision:d3, reasoning:d3, step:4, memory:ID, artifact:DIGEST, data or conversation; a
	// range such as fact:f3-f9; a kind alone for all of it that was left out; or all.
	Parts  []string
	Tokens int // the most that the text may have, 1,000 to 32,000; 0: 4,000
	After  int // of the page before
	Via    Via // form of the call that gets the next page
}

// Parts is parts of an envelope.
type Parts struct {
	Text    string     `json:"text"`   // as Markdown, for a model
	Tokens  int        `json:"tokens"` // of Text, by the tokenizer of the caller
	Parts   []PartText `json:"parts"`
	Missing []string   `json:"missing,omitempty"` // names that the envelope has no part for, with the reason if it is known
	After   int        `json:"after,omitempty"`   // for the next page; 0 if this is the last
}

// PartText is the text of a part, or a piece of it.
type PartText struct {
	Part     string `json:"part"` // such as fact:f12
	Text     string `json:"text"`
	By       string `json:"by,omitempty"`       // its author, if that is not the sender
	From     int    `json:"from,omitempty"`     // bytes of the part before this piece
	Cut      bool   `json:"cut,omitempty"`      // more of the part follows on the next page
	Replaced string `json:"replaced,omitempty"` // what the fact or decision replaced, and whose that was
}

// Parts fetches parts of the envelope of a task, a handoff or a share, also those that its receiver was not given. The read is recorded.
func (c *Client) Parts(ctx context.Context, id string, in PartsInput) (Parts, error) {
	q := wire.Query{"part": in.Parts}
	q.Number("tokens", in.Tokens)
	q.Number("after", in.After)
	q.Text("via", string(in.Via))
	return ask[Parts](ctx, c, http.MethodGet, path(contentOf(id), id, "parts"), q, nil)
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
	// Tokens is what the prompt of the owner has, with the calls that Prompt leaves out, of Budget (0: none), as Tokenizer counts; Estimate: an upper bound.
	Tokens       int     `json:"tokens"`
	Budget       int     `json:"budget,omitempty"`
	Tokenizer    string  `json:"tokenizer"`
	Estimate     bool    `json:"estimate,omitempty"`
	Utilisation  float64 `json:"utilisation,omitempty"` // tokens by budget
	Completeness float64 `json:"completeness"`          // references resolved by references requested, 0 to 1
	Version      string  `json:"version"`               // of the envelope's schema
	Stop         string  `json:"stop,omitempty"`        // what would stop a handoff now, as far as it is known; empty: nothing
}

// PreviewEnvelope packs the next envelope of a task without sending it. Nothing changes.
func (c *Client) PreviewEnvelope(ctx context.Context, task string, in PreviewInput) (Preview, error) {
	return ask[Preview](ctx, c, http.MethodPost, path("tasks", task, "preview"), nil, in)
}
