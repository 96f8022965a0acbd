package fact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Ordered is the candidates tier by tier, each once. A candidate without a tier is a target.
func Ordered(candidates []Candidate) (fit []Candidate, out []Passed) {
	for _, tier := range []Tier{TierTarget, TierFallback, TierEscalation} {
		for _, c := range candidates {
			c.Tier = cmp.Or(c.Tier, TierTarget)
			switch {
			case c.Tier != tier:
			case slices.ContainsFunc(fit, func(o Candidate) bool { return o.Agent == c.Agent }):
				out = append(out, Passed{Agent: c.Agent, Why: "is named twice"})
			default:
				fit = append(fit, c)
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
