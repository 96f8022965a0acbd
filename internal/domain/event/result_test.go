package event_test

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

func TestACollectedResultCountsOnlyWhatThereIs(t *testing.T) {
	yes := &event.Result{Text: "yes"}
	for want, parts := range map[string][]event.ChildResult{
		"2 results":      {{Task: "a", Result: yes}, {Task: "b", Result: yes}},
		"1 of 2 results": {{Task: "a", Result: yes}, {Task: "b", State: event.Pending}},
		"0 of 1 results": {{Task: "a", State: event.Failed}},
		"1 result":       {{Task: "a", Result: yes}},
	} {
		if got := event.Collect(parts).Text; got != want {
			t.Errorf("%v: %q, not %q", parts, got, want)
		}
	}
}
