package envelopes

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/packing"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// What is sealed for a handoff holds all that is said. What a receiver gets of it is a rendition: packed to its token
// budget, with its tokenizer, sealed and recorded. It is made when the receiver first reads it, so that an offer that
// nobody takes costs nothing, and a fallback gets one that fits itself.

// windowShare is the part of a receiver's context window that an envelope may take: one in windowShare. The rest is
// its room to work.
const windowShare = 2

// Budget is the token budget of a receiver; 0 if there is none. The sender's is taken as it is, up to the whole window.
func Budget(p event.Pack, s agent.Spec) int {
	switch {
	case s.ContextWindow <= 0:
		return p.Tokens
	case p.Tokens <= 0:
		return max(1, s.ContextWindow/windowShare)
	default:
		return min(p.Tokens, s.ContextWindow)
	}
}

// packable are the members of an envelope that hold what is left out by default, whatever the budget.
var packable = [][]byte{
	[]byte(`"memory":[`), []byte(`"artifacts":[`), []byte(`"conversation":[`), []byte(`"reasoning":`), []byte(`"tool":`), []byte(`"pinned":`),
	[]byte(`"gaps":[`), // a rendition says how complete it is
}

// needsPacking reports whether a receiver gets anything but the envelope itself. It may say yes where packing then
// changes nothing.
func needsPacking(source []byte, p event.Pack, budget int) bool {
	return budget > 0 || p.Strategy != "" || hasPackable(source)
}

// hasPackable goes from quote to quote: looking for one member after the other would read the whole text again for each.
func hasPackable(source []byte) bool {
	for at := bytes.IndexByte(source, '"'); at >= 0; {
		source = source[at:]
		if slices.ContainsFunc(packable, func(member []byte) bool { return bytes.HasPrefix(source, member) }) {
			return true
		}
		source = source[1:]
		at = bytes.IndexByte(source, '"')
	}
	return false
}

// fit is an envelope and what counts of a receiver when it is packed.
type fit struct {
	digest, tokenizer string
	strategy          event.Strategy
	budget            int
}

// asIs is an envelope that fits the one receiver that it names as it is. Any other gets a rendition that names it.
type asIs struct {
	fit
	agent string
}

// figures are what an envelope takes that is given as it is.
type figures struct {
	tokens       int
	estimate     bool
	utilisation  float64
	completeness float64
}

func fitOf(digest string, p event.Pack, to agent.Spec) fit {
	return fit{digest, to.Tokenizer, p.Strategy, Budget(p, to)}
}

// remember notes that an envelope fits the one receiver that it names as it is, if packing left it so and it can be given
// without a look at anything else.
func (s *Sealer) remember(f fit, doc *envelope.Envelope, packed *envelope.Envelope) (figures, bool) {
	older := doc.Version != "" && doc.Version != envelope.Version // it may not say which permissions there are
	if older || len(packed.Omissions) > 0 || len(doc.Memory) > 0 || len(doc.Gaps) > 0 {
		return figures{}, false
	}
	how := packed.Packing
	n := figures{how.Tokens, how.Estimate, how.Utilisation, how.Completeness}
	s.fits.Add(asIs{f, doc.Handoff.To[0]}, n)
	return n, true
}

// Rendition packs and seals an envelope of a task for one receiver, with the constraints that bind the task now. It is
// nil where the receiver gets the envelope itself and nothing need be counted; amended says that the constraints have
// changed since that was sealed.
func (s *Sealer) Rendition(ctx context.Context, workspace string, t task.Task, source, agent string, p event.Pack, amended bool) (*event.Rendered, error) {
	to, err := s.agents.Known(ctx, workspace, agent, false)
	if err != nil {
		return nil, err
	}
	f := fitOf(source, p, to.Spec)
	if n, ok := s.fits.Get(asIs{f, agent}); ok && !amended {
		return asItIs(f, n), nil
	}
	b, err := s.store.Bytes(ctx, workspace, t.ID, source)
	if err != nil {
		return nil, err
	}
	allowed := permissions(t)
	if !amended && allowed == nil && !needsPacking(b, p, f.budget) {
		return nil, nil
	}
	doc, _, err := envelope.Open(b)
	if err != nil {
		return nil, err
	}
	silent := wider(doc.Handoff.Permissions, allowed) // of a source from before permissions were recorded in it
	if !amended && !silent && !needsPacking(b, p, f.budget) {
		return nil, nil
	}
	doc = doc.Current() // what the task says now may need a newer minor
	if silent {
		doc.Handoff.Permissions = narrowed(doc.Handoff.Permissions, allowed)
	}
	var gone []envelope.Gap
	if doc.Memory, gone, err = s.memories.Refresh(ctx, workspace, doc.Memory); err != nil {
		return nil, err
	}
	doc.Gaps = append(doc.Gaps, gone...)
	doc.Gaps = doc.Gaps[max(0, len(doc.Gaps)-envelope.MaxGaps):]
	named := len(doc.Handoff.To) == 1 && doc.Handoff.To[0] == agent
	doc.Salt, doc.Parent, doc.Handoff.To, doc.Constraints = "", source, []string{agent}, constraints(t, doc.Constraints)
	packed, err := Pack(doc, p, to.Spec)
	if err != nil {
		return nil, err
	}
	if named && !amended && !silent {
		if n, ok := s.remember(f, &doc, &packed.Envelope); ok {
			return asItIs(f, n), nil
		}
	}
	return s.sealRendition(source, packed.Envelope)
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
	}
	return r, nil
}

// Tokens is the number of tokens of a text for a receiver that says nothing about its tokenizer.
func Tokens(text string) int { return tokenizer.Counter{}.Count(text) }

// Pack fits an envelope to a receiver. The refusals are those of [packing.Pack].
func Pack(doc envelope.Envelope, p event.Pack, to agent.Spec) (packing.Packed, error) {
	counter, err := tokenizer.For(to.Tokenizer)
	if err != nil {
		return packing.Packed{}, err
	}
	pinned, err := pins(p.Pinned)
	if err != nil {
		return packing.Packed{}, err
	}
	return packing.Pack(doc, packing.Options{Budget: Budget(p, to), Counter: counter, Strategy: p.Strategy, Pinned: pinned})
}

// pins reads what the sender pins: "KIND:ID", such as fact:f1 or memory:ID, or a kind alone of which there is one.
func pins(names []string) ([]packing.Ref, error) {
	var refs []packing.Ref
	for _, name := range names {
		kind, id, _ := strings.Cut(name, ":")
		k := envelope.PartKind(kind)
		if !slices.Contains(envelope.PartKinds.Values(), k) {
			return nil, refusal.New(refusal.Invalid, "pin parts like fact:f1, decision:d2, memory:ID, artifact:DIGEST, step:3, data or summary",
				"%.80q names no part of an envelope", name)
		}
		refs = append(refs, packing.Ref{Kind: k, ID: id})
	}
	return refs, nil
}

// CheckPack refuses wishes that no envelope can be packed by.
func CheckPack(p event.Pack) error {
	if err := p.Check(); err != nil {
		return err
	}
	_, err := pins(p.Pinned)
	return err
}

// CheckPins refuses a pin that names nothing in an envelope. One that names what could not be had is fine: that never
// stops a handoff.
func CheckPins(doc envelope.Envelope, p event.Pack) error {
	refs, err := pins(p.Pinned)
	if err != nil {
		return err
	}
	for i, ref := range refs {
		missing := slices.ContainsFunc(doc.Gaps, func(g envelope.Gap) bool { return g.Kind == ref.Kind && g.ID == ref.ID })
		if !missing && !packing.Has(doc, ref) {
			return refusal.New(refusal.Invalid, "pin what the envelope holds: preview it to see its parts and their ids, or leave the pin out",
				"the pin %.80q names nothing that is handed over", p.Pinned[i]).With("field", "pack.pinned")
		}
	}
	return nil
}

// Fits is [Sealer.Fitting] for one more receiver of what was sealed before.
func (s *Sealer) Fits(ctx context.Context, workspace, task, digest, agent string, p event.Pack) error {
	to, err := s.agents.Known(ctx, workspace, agent, false)
	if err != nil || Budget(p, to.Spec) == 0 {
		return err
	}
	doc, err := s.store.Open(ctx, workspace, task, digest)
	if err != nil {
		return err
	}
	_, err = Pack(doc, p, to.Spec)
	return err
}
