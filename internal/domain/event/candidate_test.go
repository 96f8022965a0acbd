package event

import (
	"strings"
	"testing"
)

func TestDesksComeLastAndAgentsKeepTheirTiers(t *testing.T) {
	fit, out := Ordered([]Candidate{
		{Desk: "billing"}, {Agent: "cleo", Tier: TierEscalation}, {Agent: "ben"}, {Desk: "operators", Tier: TierEscalation}, {Desk: "billing", Tier: TierFallback},
	})
	var who []string
	for _, c := range fit {
		who = append(who, c.Who())
	}
	if got := strings.Join(who, ", "); got != "ben, cleo, the desk billing, the desk operators" {
		t.Error(got)
	}
	if len(out) != 1 || out[0].Agent != "the desk billing" {
		t.Errorf("passed over: %v", out)
	}
}

func TestDesksAreNamedLikeAgents(t *testing.T) {
	for _, c := range []struct {
		c  Candidate
		ok bool
	}{{Candidate{Desk: "billing-desk"}, true}, {Candidate{Desk: "no spaces"}, false}, {Candidate{}, false}, {Candidate{Agent: "a/b", Desk: "x"}, false}} {
		if err := CheckCandidates([]Candidate{c.c}); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.c, err)
		}
	}
}
