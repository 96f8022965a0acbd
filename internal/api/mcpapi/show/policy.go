package show

import (
	"github.com/trapezehq/trapeze/client"
)

// Decision is a decision of the policy, with a bounded list of the receivers that it passed over.
type Decision struct {
	Action string   `json:"action"`
	Rule   string   `json:"rule,omitempty"`
	To     string   `json:"to,omitempty"`
	Kind   string   `json:"kind,omitempty"`
	Why    []string `json:"why,omitempty"`
	Passed []string `json:"passed_over,omitempty"`
}

const mostPassed = 10

// DecisionOf describes a decision.
func DecisionOf(d client.Decision) Decision {
	out := Decision{Action: d.Action, Rule: d.Rule, Kind: string(d.Kind), Why: d.Why}
	for _, r := range []struct{ what, name string }{
		{"", d.To.Agent}, {"capability ", d.To.Capability}, {"channel ", d.To.Channel}, {"chain ", d.To.Chain}, {"human:", d.To.Desk},
	} {
		if r.name != "" {
			out.To = r.what + r.name
		}
	}
	for _, w := range d.Weighed {
		if !w.Fit && len(out.Passed) < mostPassed {
			out.Passed = append(out.Passed, w.Agent+w.Desk+": "+w.Why)
		}
	}
	return out
}

// String is the decision as a model reads it.
func (d Decision) String() string {
	s := "The policy decided: " + d.Action
	if d.To != "" {
		s += " to " + d.To
	}
	if d.Rule != "" {
		s += " (rule " + d.Rule + ")"
	}
	if len(d.Why) > 0 {
		s += ", because " + Lines(d.Why)
	}
	if len(d.Passed) > 0 {
		s += ". Passed over: " + Lines(d.Passed)
	}
	return s + "."
}
