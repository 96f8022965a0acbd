package envelopes

import (
	"context"
	"crypto/sha256"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/fetchcall"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// beforehand reports whether a reader of a task's n-th handoff reads it before its receiver does, who gets it packed only then.
func beforehand(t task.Task, c caller.Caller, n int) bool {
	h := t.InFlight()
	return h != nil && n == h.N && h.Rendition == "" && !openOffer(t, c)
}

// awaited is the agent that a handoff goes to next; empty if several may take it, or people.
func awaited(h *task.Handoff) string {
	if h.Receiver != "" {
		return h.Receiver
	}
	next := min(h.Next, len(h.Candidates)-1)
	if next < 0 {
		return ""
	}
	first := h.Candidates[next]
	for _, k := range h.Candidates[next+1:] {
		if first.Tier == event.TierTarget && k.Tier == first.Tier && k.Agent != first.Agent {
			return ""
		}
	}
	return first.Agent
}

// Ahead is what the receiver of the handoff in flight would be given if it accepted now, in the words of [Sealer.Offered]. Nothing is sealed. The same
// content has the same digest.
func (s *Sealer) Ahead(ctx context.Context, workspace string, t task.Task, render bool, via fetchcall.Via) (*Sheet, error) {
	h := t.InFlight()
	agent := awaited(h)
	got, _, err := s.rendition(ctx, workspace, t, h.Envelope, agent, h.Pack, h.Amended)
	if no, ok := refusal.As(err); ok && no.Code == refusal.Budget {
		return nil, refusal.New(refusal.Budget, "add source=true to read what was sent; send it with fewer constraints, or to a receiver with a larger context window",
			"what must survive of handoff %s does not fit its receiver: %s", h.ID(t.ID), no.Message).With("needed", no.Details["needed"])
	}
	if err != nil {
		return nil, err
	}
	var sheet *Sheet
	if got == nil {
		sheet, err = s.Sheet(ctx, workspace, t.ID, Ref{Digest: h.Envelope}, render, via)
	} else {
		sheet, err = unsealed(got, h.Envelope, render, via)
	}
	if err != nil {
		return nil, err
	}
	sheet.For, sheet.Undecided = agent, agent == ""
	return sheet, nil
}

// unsealed is a rendition as it is read before it is sealed, with the same bytes for the same content of the same source. Its salt is made of that of the source, with which it
// is erased: a digest that somebody has kept confirms no guess of the content then.
func unsealed(r *rendered, source string, render bool, via fetchcall.Via) (*Sheet, error) {
	salt := sha256.Sum256([]byte("unsealed\x00" + r.salt))
	sealed, err := envelope.Seal(r.packed, salt[:envelope.MinSalt])
	if err != nil {
		return nil, err
	}
	sheet := &Sheet{Digest: sealed.Digest, Source: source, Envelope: sealed.Bytes}
	if !render {
		return sheet, nil
	}
	doc, _, err := envelope.Open(sealed.Bytes)
	if err != nil {
		return nil, err
	}
	sheet.Prompt = envelope.RenderVia(doc, via)
	return sheet, nil
}

// Current reports whether a digest is of what the receiver of the handoff in flight would be given now.
func (s *Sealer) Current(ctx context.Context, workspace string, t task.Task, digest string) (bool, error) {
	h := t.InFlight()
	if h == nil || digest == "" || digest == h.Envelope {
		return false, nil // the decision tells which it is
	}
	now, err := s.Ahead(ctx, workspace, t, false, "")
	if _, ok := refusal.As(err); ok { // there is no such envelope
		return false, nil
	}
	return err == nil && now.Digest == digest, err
}
