package envelopes

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Rendition packs and seals an envelope of a task for one receiver, with the constraints that bind the task now. It is
// nil where the receiver gets the envelope itself and nothing need be counted; amended says that the constraints have
// changed since that was sealed, or that its approver has said something.
func (s *Sealer) Rendition(ctx context.Context, workspace string, t task.Task, source, agent string, p event.Pack, amended bool) (*event.Rendered, error) {
	got, as, err := s.rendition(ctx, workspace, t, source, agent, p, amended)
	if err != nil || got == nil {
		return as, err
	}
	r, err := s.sealRendition(source, got.packed)
	if err == nil {
		r.Forgotten, err = s.forgotten(ctx, workspace, t, &got.doc)
	}
	return r, err
}

// rendered is an envelope for one receiver, before and after it is packed, with the salt of its source.
type rendered struct {
	doc, packed envelope.Envelope
	salt        string
}

// rendition is the envelope that [Sealer.Rendition] seals. It is nil where the receiver gets the envelope itself; as has the figures of that, if they
// are known. Without an agent it is for a receiver of whom nothing is known.
func (s *Sealer) rendition(ctx context.Context, workspace string, t task.Task, source, agent string, p event.Pack, amended bool) (
	_ *rendered, as *event.Rendered, err error,
) {
	to, err := s.agents.Known(ctx, workspace, agent, false)
	if err != nil {
		return nil, nil, err
	}
	f := fitOf(source, p, to.Spec)
	if n, ok := s.fits.Get(asIs{f, agent}); ok && !amended {
		return nil, asItIs(f, n), nil
	}
	b, err := s.store.Bytes(ctx, workspace, t.ID, source)
	if err != nil {
		return nil, nil, err
	}
	allowed := permissions(t)
	if !amended && allowed == nil && !needsPacking(b, p, f.budget) {
		return nil, nil, nil
	}
	doc, _, err := envelope.Open(b)
	if err != nil {
		return nil, nil, err
	}
	silent := wider(doc.Handoff.Permissions, allowed) // of a source from before permissions were recorded in it
	if !amended && !silent && !needsPacking(b, p, f.budget) {
		return nil, nil, nil
	}
	salt := doc.Salt
	named := len(doc.Handoff.To) == 1 && doc.Handoff.To[0] == agent
	if doc, err = s.brought(ctx, workspace, doc, t, source, agent, amended); err != nil {
		return nil, nil, err
	}
	if silent {
		doc.Handoff.Permissions = narrowed(doc.Handoff.Permissions, allowed)
	}
	got, err := Pack(doc, p, to.Spec)
	if err != nil {
		return nil, nil, err
	}
	if named && !amended && !silent {
		if n, ok := s.remember(f, &doc, &got.Envelope); ok {
			return nil, asItIs(f, n), nil
		}
	}
	return &rendered{doc, got.Envelope, salt}, nil, nil
}

// brought is a source up to date with the task, for one receiver. Without an agent it stays addressed as it was.
func (s *Sealer) brought(ctx context.Context, workspace string, doc envelope.Envelope, t task.Task, source, agent string, amended bool) (envelope.Envelope, error) {
	doc = doc.Current() // what the task says now may need a newer minor
	kept, gone, err := s.memories.Refresh(ctx, workspace, doc.Memory)
	if err != nil {
		return doc, err
	}
	doc.Memory = kept
	doc.Gaps = newest(&doc, t, append(doc.Gaps, gone...), envelope.MaxGaps, envelope.DroppedGaps)
	if agent != "" {
		doc.Handoff.To = []string{agent}
	}
	doc.Salt, doc.Parent, doc.Constraints = "", source, constraints(t, doc.Constraints)
	if amended {
		tell(&doc, t, amending(doc.History, t)...)
	}
	return doc, nil
}

// forgotten says who forgot what an envelope refers to, since the task was created. A child may have it from its parent, which is older.
func (s *Sealer) forgotten(ctx context.Context, workspace string, t task.Task, doc *envelope.Envelope) (list []event.Forgotten, err error) {
	since := t.Created
	if t.Parent.Task != "" {
		since = time.Time{}
	}
	by, err := s.memories.Forgetters(ctx, workspace, doc.Gaps, since)
	for _, who := range slices.Sorted(maps.Keys(by)) {
		list = append(list, event.Forgotten{By: who, Share: float64(by[who]) / float64(len(doc.Memory)+len(doc.Artifacts)+len(doc.Gaps))})
	}
	return list, err
}

// permissions are those that the receiver of the handoff in flight gets, or else those of the task.
func permissions(t task.Task) []string {
	if h := t.InFlight(); h != nil && h.Permits != nil {
		return h.Permits
	}
	return t.Permissions
}

// wider reports whether the permissions in an envelope allow what is not allowed. Nil allows everything.
func wider(says, allowed []string) bool {
	if allowed == nil {
		return false
	}
	return says == nil || slices.ContainsFunc(says, func(p string) bool { return !slices.Contains(allowed, p) })
}

// narrowed are the permissions in an envelope without those that are not allowed.
func narrowed(says, allowed []string) []string {
	if says == nil {
		return allowed
	}
	both := []string{}
	for _, p := range says {
		if slices.Contains(allowed, p) {
			both = append(both, p)
		}
	}
	return both
}

func asItIs(f fit, n figures) *event.Rendered {
	return &event.Rendered{
		Source: f.digest, Digest: f.digest, Tokens: n.tokens, Budget: f.budget, Estimate: n.estimate,
		Utilisation: n.utilisation, Completeness: n.completeness,
	}
}

func (s *Sealer) sealRendition(source string, doc envelope.Envelope) (*event.Rendered, error) {
	sealed, err := s.seal(doc)
	if err != nil {
		return nil, err
	}
	how := doc.Packing
	r := &event.Rendered{
		Source: source, Digest: sealed.Digest, Parent: source, Bytes: sealed.Bytes, Tokens: how.Tokens, Budget: how.Budget,
		Estimate: how.Estimate, Utilisation: how.Utilisation, Completeness: how.Completeness,
	}
	for _, o := range doc.Omissions {
		r.Omitted += o.Parts()
		if o.Reason == envelope.OverBudget || o.Reason == envelope.OverShare {
			r.OverBudget += o.Parts()
		}
	}
	return r, nil
}
