package event_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

func TestDesksComeLastAndAgentsKeepTheirTiers(t *testing.T) {
	fit, out := event.Ordered([]event.Candidate{
		{Desk: "billing"}, {Agent: "cleo", Tier: event.TierEscalation}, {Agent: "ben"}, {Desk: "operators", Tier: event.TierEscalation}, {Desk: "billing", Tier: event.TierFallback},
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
		c  event.Candidate
		ok bool
	}{{event.Candidate{Desk: "billing-desk"}, true}, {event.Candidate{Desk: "no spaces"}, false}, {event.Candidate{}, false}, {event.Candidate{Agent: "a/b", Desk: "x"}, false}} {
		if err := event.CheckCandidates([]event.Candidate{c.c}); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.c, err)
		}
	}
}
