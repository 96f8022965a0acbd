package fact_test

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/fact"
)

func TestACollectedResultCountsOnlyWhatThereIs(t *testing.T) {
	yes := &fact.Result{Text: "yes"}
	for want, parts := range map[string][]fact.Part{
		"2 results":      {{Task: "a", Result: yes}, {Task: "b", Result: yes}},
		"1 of 2 results": {{Task: "a", Result: yes}, {Task: "b", State: fact.Pending}},
		"0 of 1 results": {{Task: "a", State: fact.Failed}},
	} {
		if got := fact.Collect(parts).Text; got != want {
			t.Errorf("%v: %q, not %q", parts, got, want)
		}
	}
}
