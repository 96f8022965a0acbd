package envelopes

import (
	"context"
	"encoding/json"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/fetchcall"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Sheet is an envelope as its receiver reads it.
type Sheet struct {
	Digest string `json:"digest"`
	// Sealed is the digest of the sealed envelope, if this is a copy of it: without memory items that were forgotten since.
	Sealed string `json:"sealed,omitempty" doc:"Digest of the sealed envelope, if this is a copy without memory items that were forgotten since."`
	// Source is the digest of what was sent, where this is a rendition of it that was packed for its receiver. What the
	// rendition lists as left out stands there.
	Source   string          `json:"source,omitempty"`
	Envelope json.RawMessage `json:"envelope"`
	Prompt   string          `json:"prompt,omitempty"`
	// For and Undecided say for whom this is, if nobody has accepted the handoff.
	For       string `json:"for,omitempty" doc:"Nobody has accepted the handoff yet: this is what the agent named here would be given now, and it is not sealed. Constraints that change, or memory items that are forgotten, before it accepts change it, and its digest."`
	Undecided bool   `json:"undecided,omitempty" doc:"Nobody has accepted the handoff yet, and several agents or people may: this is the whole of what would be given now. A receiver with a smaller token budget is given less."`
	// Copies are the envelope in each of the schema's majors that were asked for.
	Copies []Copy `json:"copies,omitempty"`
}

// Copy is an envelope in one major of its schema.
type Copy struct {
	Major    int             `json:"major"`
	Of       string          `json:"of"` // digest of the envelope that it was converted from
	Envelope json.RawMessage `json:"envelope"`
	Lost     []string        `json:"lost,omitempty"` // fields that its major has no place for, as paths
}

// Ref names a sealed envelope.
type Ref struct {
	Digest string
	Source string // digest of the envelope that it is a rendition of; empty if it is none
}

// Given is an envelope that was given to a receiver: a source itself, or a rendition of it.
func Given(digest, source string) Ref {
	if digest == source {
		return Ref{Digest: digest}
	}
	return Ref{Digest: digest, Source: source}
}

// Sheet is an envelope of a task, and, if asked for, the prompt that it is rendered to for a reader that came that way. What was forgotten since it was
// sealed is given to nobody, not even to those who had it before.
func (s *Sealer) Sheet(ctx context.Context, workspace, task string, r Ref, render bool, via fetchcall.Via) (*Sheet, error) {
	b, err := s.store.Bytes(ctx, workspace, task, r.Digest)
	if err != nil {
		return nil, err
	}
	sheet := &Sheet{Digest: r.Digest, Source: r.Source, Envelope: b}
	redacted, err := s.memories.Redact(ctx, workspace, b)
	if err != nil {
		return nil, err
	}
	if redacted != nil {
		b = redacted
		sheet.Digest, sheet.Sealed, sheet.Envelope = envelope.DigestOf(b), r.Digest, b
	}
	if !render {
		return sheet, nil
	}
	doc, _, err := envelope.Open(b)
	if err != nil {
		return nil, err
	}
	sheet.Prompt = envelope.RenderVia(doc, via)
	return sheet, nil
}

// Offered is what accepting or reading an offer adds: the receiver's rendition of what is offered, if it gets one.
func (s *Sealer) Offered(ctx context.Context, workspace string, t task.Task, agent string) (*event.Rendered, error) {
	h := t.Handoff
	if h.Rendition != "" {
		return nil, nil
	}
	r, err := s.Rendition(ctx, workspace, t, h.Envelope, agent, h.Pack, h.Amended)
	if no, ok := refusal.As(err); ok && no.Code == refusal.Budget {
		return nil, refusal.New(refusal.Budget, "[reject the offer](reject) as not_capable, so that it goes to the next candidate; or ask an operator to [give you a larger context window](agent add .context_window)",
			"what must survive of handoff %s does not fit you: %s", h.ID(t.ID), no.Message).With("needed", no.Details["needed"])
	}
	return r, err
}
