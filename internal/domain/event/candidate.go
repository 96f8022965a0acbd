package event

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Named is agents as those whom a handoff is meant for.
func Named(agents ...string) []Candidate {
	list := make([]Candidate, len(agents))
	for i, name := range agents {
		list[i] = Candidate{Agent: name, Tier: TierTarget}
	}
	return list
}

// IsDesk reports whether the candidate is people, and no agent.
func (c Candidate) IsDesk() bool { return c.Agent == "" && c.Desk != "" }

// Who is the candidate in words: an agent by its name, or "the desk NAME".
func (c Candidate) Who() string {
	if c.IsDesk() {
		return "the desk " + c.Desk
	}
	return c.Agent
}

// Ordered is the candidates tier by tier, each once, and the desks last: behind a desk there is nobody. A candidate without
// a tier is a target.
func Ordered(candidates []Candidate) (fit []Candidate, out []Passed) {
	for _, desk := range []bool{false, true} {
		for _, tier := range []Tier{TierTarget, TierFallback, TierEscalation} {
			for _, c := range candidates {
				c.Tier = cmp.Or(c.Tier, TierTarget)
				switch {
				case c.Tier != tier || c.IsDesk() != desk:
				case slices.ContainsFunc(fit, func(o Candidate) bool { return o.Who() == c.Who() }):
					out = append(out, Passed{Agent: c.Who(), Why: "is named twice"})
				default:
					fit = append(fit, c)
				}
			}
		}
	}
	return fit, out
}

// WhyPassed says in a line why agents were passed over: the first of them.
func WhyPassed(passed []Passed) string {
	const most = 10
	var all []string
	for i, p := range passed {
		if i == most {
			all = append(all, fmt.Sprintf("and %d more", len(passed)-most))
			break
		}
		all = append(all, p.Agent+" "+p.Why)
	}
	return strings.Join(all, "; ")
}
