package routing_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/routing"
)

// TestCircularFallbacksAreConsideredOnce: however circular the fallbacks of agents and of the policy are, a plan considers
// each agent once, and reaches all that can be reached.
func TestCircularFallbacksAreConsideredOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
		edges := func(label string) map[string][]string {
			m := map[string][]string{}
			for _, n := range names {
				m[n] = rapid.SliceOfNDistinct(rapid.SampledFrom(slices.DeleteFunc(slices.Clone(names), func(o string) bool { return o == n })), 0, 3, rapid.ID[string]).Draw(t, label)
			}
			return m
		}
		own, byPolicy := edges("agents"), edges("policy")
		var hints []routing.Hint
		for _, n := range names {
			hints = append(hints, agentOf(n, fallbacks(own[n]...), says(rapid.SampledFrom([]agent.Readiness{agent.Ready, agent.Busy}).Draw(t, "says"))))
		}
		plan, err := routing.Route(routing.Request{Agents: []string{"a"}, Fallbacks: func(agent string) []string { return byPolicy[agent] }}, snapshotOf(hints...), noon)
		reached := []string{"a"}
		for i := 0; i < len(reached); i++ {
			for _, n := range slices.Concat(own[reached[i]], byPolicy[reached[i]]) {
				if !slices.Contains(reached, n) {
					reached = append(reached, n)
				}
			}
		}
		var looked []string
		for _, c := range plan.Considered {
			looked = append(looked, c.Agent)
		}
		if !slices.Equal(looked, reached) || (err == nil) != (len(eligible(plan)) > 0) {
			t.Fatalf("looked at %v, reachable are %v, %v", looked, reached, err)
		}
	})
}

func TestAPersonIsNeverFoundByCapability(t *testing.T) {
	person := func(h *routing.Hint) { h.Agent.Spec.Kind = agent.KindHuman }
	dir := snapshotOf(agentOf("dora", can("refunds"), person), agentOf("anna", can("refunds")), agentOf("bert", can("refunds"), says(agent.Busy)))
	plan, err := routing.Route(routing.Request{Needs: []string{"refunds"}}, dir, noon)
	if err != nil || slices.ContainsFunc(plan.Considered, func(c routing.Considered) bool { return c.Agent == "dora" }) {
		t.Errorf("%+v, %v", plan, err)
	}
	alone := snapshotOf(agentOf("dora", can("refunds"), person))
	if plan, err = routing.Route(routing.Request{Needs: []string{"refunds"}}, alone, noon); err == nil {
		t.Errorf("%+v", plan)
	}
	if plan, err = routing.Route(routing.Request{Agents: []string{"dora"}}, alone, noon); err != nil || len(eligible(plan)) != 1 {
		t.Errorf("by name: %+v, %v", plan, err)
	}
}
