package envelopes

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// maxUnlimited is the most bytes of an envelope whose tokens are counted for a receiver without a limit. For one with a limit they are
// always counted.
const maxUnlimited = 64 << 10

// Fitting leaves out candidates whose token budget is too small for what must survive in an envelope. doc is what was sealed; without a digest, what
// will be. The refusal, if nobody is left, says how many tokens it takes; who was left out is said beside it. It notes in sealed what the envelope
// takes for those that are left and asked first, the agents of the first tier, if it was sealed now.
func (s *Sealer) Fitting(ctx context.Context, workspace string, sealed *event.Sealed, doc envelope.Envelope, candidates []event.Candidate, p event.Pack) (
	fitting []event.Candidate, passed []event.Passed, err error,
) {
	for _, free := range []*json.RawMessage{&doc.Task.Data, &doc.ExpectedOutput.Schema} { // as the receiver reads it
		if len(*free) == 0 || sealed.Bytes == nil {
			continue
		}
		if *free, err = envelope.Canonical(*free); err != nil {
			return nil, nil, err
		}
	}
	tried := map[fit]trial{}
	var first error
	var tier event.Tier // of the first that fits
	for _, c := range candidates {
		if c.IsDesk() { // people read what they want of it
			fitting = append(fitting, c)
			continue
		}
		to, err := s.agents.Known(ctx, workspace, c.Agent, false)
		if err != nil {
			return nil, nil, err
		}
		f := fitOf(sealed.Digest, p, to.Spec)
		if f.budget == 0 && (cmp.Or(tier, c.Tier) != c.Tier || sealed.Bytes == nil || len(sealed.Bytes) > maxUnlimited) {
			fitting, tier = append(fitting, c), cmp.Or(tier, c.Tier)
			continue
		}
		done, ok := tried[f]
		if !ok {
			done = s.try(f, &doc, p, &to.Spec, sealed.Bytes != nil)
			tried[f] = done
		}
		if done.refused == nil {
			fitting, tier = append(fitting, c), cmp.Or(tier, c.Tier)
			if c.Tier == tier && sealed.Bytes != nil {
				sealed.Measured = withMost(sealed.Measured, done.measured)
			}
			continue
		}
		if first == nil {
			first = done.refused
		}
		passed = append(passed, event.Passed{Agent: c.Agent, Why: refusal.Clip("has too small a token budget: "+done.refused.Error(), 300)})
	}
	if len(fitting) == 0 {
		return nil, passed, first
	}
	return fitting, passed, nil
}

// trial is an envelope packed for a receiver without giving it.
type trial struct {
	measured *event.Measured // nil if it was refused, or could not be counted
	refused  error
}

// try packs an envelope, one that has just been sealed or will be, without giving it, and remembers if it fits as it is. Free JSON is not yet in the form in which
// its receiver reads it.
func (s *Sealer) try(f fit, doc *envelope.Envelope, p event.Pack, to *agent.Spec, sealed bool) trial {
	packed, err := pack(doc, p, to, sealed)
	switch {
	case err != nil && f.budget == 0: // nothing limits it
		return trial{}
	case err != nil:
		return trial{refused: err}
	}
	if f.digest != "" && f.budget > 0 && len(doc.Handoff.To) == 1 && len(doc.Task.Data) == 0 && len(doc.ExpectedOutput.Schema) == 0 {
		s.remember(f, doc, &packed.Envelope)
	}
	how := packed.Envelope.Packing
	out := &event.Measured{Tokens: how.Tokens, Budget: f.budget, Estimate: how.Estimate, Completeness: how.Completeness}
	for _, o := range packed.Envelope.Omissions {
		out.Omitted += o.Parts()
	}
	return trial{measured: out}
}

// withMost returns the figures with the most tokens; nil counts nothing.
func withMost(a, b *event.Measured) *event.Measured {
	if a == nil || b != nil && b.Tokens > a.Tokens {
		return b
	}
	return a
}
