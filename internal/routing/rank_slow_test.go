//go:build slow

package routing

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/agent"
)

// TestTheBestAreThoseThatSortingAllWouldPutFirst inserts agents that are often equals, in any order.
func TestTheBestAreThoseThatSortingAllWouldPutFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := router{req: Request{Spread: rapid.SampledFrom([]string{"", "task-1", "task-2"}).Draw(t, "spread")}}
		best := make([]ranked, 0, rapid.IntRange(1, 6).Draw(t, "capacity"))
		var all []ranked
		for i := range rapid.IntRange(0, 20).Draw(t, "agents") {
			few := func(label string) int { return rapid.IntRange(0, 1).Draw(t, label) }
			h := Hint{Held: rapid.IntRange(0, 3).Draw(t, "held")}
			h.Agent.Name = fmt.Sprint("agent-", i)
			h.Agent.Spec.MaxTasks = 20 * few("limited")
			h.Agent.Circuit.Failures = few("failures")
			h.Agent.Spec.Estimates = agent.Estimates{Cost: int64(few("cost")), Latency: time.Duration(few("latency"))}
			reason := rapid.SampledFrom([]Reason{Fit, FitAsProbe, Full}).Draw(t, "reason")
			best = r.insert(best, &h, reason)
			a := r.rank(&h, reason)
			a.turn = r.turn(a.name)
			all = append(all, a)
		}
		slices.SortFunc(all, func(a, b ranked) int { return compareAll(&a, &b) })
		if want := all[:min(len(all), cap(best))]; !slices.Equal(best, want) {
			t.Fatalf("got %+v, want %+v", best, want)
		}
	})
}
