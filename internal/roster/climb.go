package roster

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/policy"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/routing"
)

// Climb is whom a handoff along a chain's levels can go to: those of the first level as targets, those of the others as
// escalation, and people at the end.
func (r *Roster) Climb(ctx context.Context, workspace string, levels []policy.Level, req routing.Request, now time.Time) (Plan, error) {
	var out Plan
	tier := fact.TierTarget
	for i, l := range levels {
		if l.Human != "" {
			out.Candidates = append(out.Candidates, fact.Candidate{Desk: l.Human, Tier: tier, Level: i + 1})
			continue
		}
		req.Agents, req.Needs = nil, nil
		if l.Agent != "" {
			req.Agents = []string{l.Agent}
		} else {
			req.Needs = []string{l.Capability}
		}
		p, err := r.Plan(ctx, workspace, req, now)
		if err != nil {
			return out, err
		}
		if no, ok := refusal.As(p.Refused); ok {
			out.Passed = append(out.Passed, fact.Passed{Agent: l.Agent + l.Capability, Why: no.Message})
		}
		out.Passed = append(out.Passed, p.Passed...)
		for _, k := range p.Candidates {
			seen := slices.ContainsFunc(out.Candidates, func(o fact.Candidate) bool { return o.Agent == k.Agent })
			if seen || k.Tier == fact.TierEscalation {
				continue
			}
			if tier == fact.TierEscalation {
				k.Tier = tier
			}
			k.Level = i + 1
			out.Candidates = append(out.Candidates, k)
		}
		tier = fact.TierEscalation
	}
	return out, nil
}
