package event

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Tier is the part that a candidate has in a handoff's list of receivers.
type Tier string

// The tiers, in the order in which they are tried.
const (
	TierTarget     Tier = "target"
	TierFallback   Tier = "fallback"
	TierEscalation Tier = "escalation"
)

// Tiers lists every tier, in the order in which they are tried.
var Tiers = NewSet("a tier", TierTarget, TierFallback, TierEscalation)

func (t *Tier) UnmarshalText(b []byte) error { return Tiers.Decode(t, b) }

// Candidate is a receiver that a handoff may be offered to.
type Candidate struct {
	Agent string `json:"agent"` // its name; empty for a desk
	Tier  Tier   `json:"tier"`
	Desk  string `json:"desk,omitempty"`  // a group of people: the handoff ends there, with a ticket to take the task over
	Level int    `json:"level,omitempty"` // its place in an escalation chain, from 1; 0: none
	Human bool   `json:"human,omitempty"` // a person: instead of the clocks for acknowledgment and lease, that for answers runs
}

// Passed is a candidate that was passed over, and why.
type Passed struct {
	Agent string `json:"agent"`
	Why   string `json:"why"`
}

// The limits of a handoff's list of candidates.
const (
	MaxCandidates = 1100
	MaxLevel      = 64 // of an escalation chain
)

// Named makes candidates of agents, with the tier target.
func Named(agents ...string) []Candidate {
	list := make([]Candidate, len(agents))
	for i, name := range agents {
		list[i] = Candidate{Agent: name, Tier: TierTarget}
	}
	return list
}

// IsDesk reports whether the candidate is a desk and not an agent.
func (c Candidate) IsDesk() bool { return c.Agent == "" && c.Desk != "" }

// Who is the candidate in a sentence: the agent's name, or "the desk NAME".
func (c Candidate) Who() string {
	if c.IsDesk() {
		return "the desk " + c.Desk
	}
	return c.Agent
}

// CheckCandidates refuses candidates that are too many, have no name, or are at a level that a chain cannot have.
func CheckCandidates(candidates []Candidate) error {
	if err := checkCount("candidates", len(candidates), MaxCandidates, "name fewer receivers"); err != nil {
		return err
	}
	for _, c := range candidates {
		err := CheckAgent("an agent's name", c.Agent)
		if c.Desk != "" && c.Agent == "" {
			err = CheckName("a desk's name", c.Desk)
		}
		if err == nil && (c.Level < 0 || c.Level > MaxLevel) {
			err = refusal.New(refusal.Invalid, "give its place in the chain, from 1", "the level %d of a chain is out of range", c.Level)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Distinct is the candidates in their order, each once. A recovery does not sort them by tier: the lost owner keeps its place.
func Distinct(candidates []Candidate) []Candidate {
	var list []Candidate
	for _, c := range candidates {
		if !slices.ContainsFunc(list, func(o Candidate) bool { return o.Who() == c.Who() }) {
			c.Tier = cmp.Or(c.Tier, TierTarget)
			list = append(list, c)
		}
	}
	return list
}

// Ordered sorts candidates by tier, each once, and puts desks last, because a handoff ends at a desk. A candidate without a
// tier is a target. Repeated candidates are passed over.
func Ordered(candidates []Candidate) (fit []Candidate, out []Passed) {
	for _, desk := range []bool{false, true} {
		for _, tier := range Tiers.values {
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

// WhyPassed says in one line why the first ten of the candidates were passed over.
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
