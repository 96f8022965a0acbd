package figure_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/figure"
)

// TestOffersInARowThatAnAgentDoesNotLookAtAreCounted: until something says that it is there.
func TestOffersInARowThatAnAgentDoesNotLookAtAreCounted(t *testing.T) {
	offer := func(n int, to ...string) []event.Event {
		return []event.Event{
			event.HandoffRequested{Handoff: n, From: "ann", Kind: event.Warm, Reason: event.ReasonError},
			event.OfferMade{Handoff: n, Offer: 1, To: to},
		}
	}
	expired := event.OfferExpired{Handoff: 1, Offer: 1}
	of := func(more ...event.Event) func(*record) {
		return func(r *record) {
			r.add("more", time.Minute, slices.Concat([]event.Event{event.Created{Task: "more"}}, more)...)
		}
	}
	is := func(ev agent.Event) func(*record) { return func(r *record) { r.agentIs("main", "bob", ev) } }
	for name, c := range map[string]struct {
		then func(*record)
		want float64
	}{
		"nothing":             {func(*record) {}, 3},
		"another":             {of(append(offer(1, "bob"), expired)...), 4},
		"one that it sees":    {of(append(offer(1, "bob"), event.Seen{Handoff: 1, Offer: 1, Agent: "bob"}, expired)...), 0},
		"one that it rejects": {of(append(offer(1, "bob"), event.RejectedOffer{Handoff: 1, Offer: 1, Agent: "bob"})...), 0},
		"one of two":          {of(append(offer(1, "bob", "cy"), expired)...), 3},
		"another's":           {of(append(offer(1, "cy"), expired)...), 3},
		"one of seconds": {func(r *record) {
			r.add("more", time.Minute, append([]event.Event{event.Created{Task: "more", Timeouts: event.Timeouts{Offer: event.Duration(5 * time.Second)}}}, append(offer(1, "bob"), expired)...)...)
		}, 3},
		"it is ready":              {is(agent.ReadinessChanged{}), 0},
		"it is there again":        {is(agent.PresenceReturned{}), 0},
		"an operator resets it":    {is(agent.CircuitReset{}), 0},
		"an operator removes it":   {is(agent.Removed{}), 0},
		"another sender's success": {is(agent.FailuresCleared{Sender: "agent/lea"}), 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecord(t)
			r.agentIs("main", "bob", agent.Registered{Name: "bob"})
			for n := range 3 {
				r.add(fmt.Sprint("t", n), time.Duration(n)*time.Second, slices.Concat([]event.Event{event.Created{}}, offer(1, "bob"), []event.Event{expired})...)
			}
			c.then(r)
			tally := r.tally(figure.Options{})
			got := tally.Missed("main", "bob", 3, noon.Add(time.Hour))
			if got.Value != c.want {
				t.Errorf("%+v", got)
			}
			if c.want == 3 && (!got.Since.Equal(noon.Add(2*time.Second)) || !slices.Equal(got.Handoffs, []string{"t2.h1", "t1.h1", "t0.h1"}) || !slices.Equal(got.Senders, []string{"ann"})) {
				t.Errorf("%+v", got)
			}
			if late := tally.Missed("main", "bob", 3, noon.Add(25*time.Hour)); late.Value != 0 {
				t.Errorf("a day later: %+v", late)
			}
		})
	}
}
