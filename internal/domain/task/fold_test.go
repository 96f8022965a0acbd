package task_test

import (
	"reflect"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

func TestATaskThatIsNeverCopiedChangesItsHandoffInPlace(t *testing.T) {
	events := []event.Event{
		event.Created{Task: "task_a", Intent: "i", Requester: "agent/ann"},
		event.HandoffRequested{Handoff: 1, Candidates: []event.Candidate{{Agent: "bob", Tier: event.TierTarget}}},
		event.OfferMade{Handoff: 1, Offer: 1, To: []string{"bob"}},
		event.Acknowledged{Handoff: 1, Offer: 1, Agent: "bob"},
	}
	var shared, own task.Task
	var first *task.Handoff
	for i, e := range events {
		before := shared
		shared.Apply(e)
		task.FoldOwn(&own, e)
		if first == nil {
			first = own.Handoff
		}
		if own.Handoff != first {
			t.Errorf("after %s it has another handoff", e.EventName())
		}
		if i > 1 && before.Handoff == shared.Handoff {
			t.Errorf("%s changes a handoff that a copy has, too", e.EventName())
		}
	}
	own.Apply() // it may be copied now
	if !reflect.DeepEqual(own, shared) {
		t.Errorf("%+v, not %+v", own, shared)
	}
}
