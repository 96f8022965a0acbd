package figure_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// registers adds the registration of an agent.
func (r *record) registers(name string) {
	r.Helper()
	r.ofAgent(name, agent.Registered{})
}

// ofAgent adds an entry of an agent.
func (r *record) ofAgent(name string, events ...agent.Event) {
	r.Helper()
	encoded, err := ledger.NewCodec(agent.Events...).EncodeAll(events)
	if err != nil {
		r.Fatal(err)
	}
	r.entries = append(r.entries, ledger.Entry{Position: ledger.Position(len(r.entries) + 1), Stream: ledger.StreamOf("main", "agent", name), Version: 1, Time: noon, Events: encoded})
}

// gets adds a task of a requester that an agent gets at a time, and what becomes of it.
func (r *record) gets(task, requester, name string, after time.Duration, then ...event.Event) {
	r.Helper()
	r.add(task, after, event.Created{Task: task, Requester: "agent/" + requester},
		event.HandoffRequested{Handoff: 1, By: "agent/" + requester, Kind: event.Warm, Reason: event.ReasonError}, event.OfferMade{Handoff: 1, Offer: 1, To: []string{name}},
		event.Acknowledged{Handoff: 1, Offer: 1, Agent: name}, event.Confirmed{Handoff: 1, Auto: true}, event.Moved{Handoff: 1, To: name, Hop: true})
	r.add(task, after, then...)
}

// TestAnAgentThatMakesNothingOfItsTasksIsFound: by what it fails and loses of what it got from others, and by nothing else.
func TestAnAgentThatMakesNothingOfItsTasksIsFound(t *testing.T) {
	completes, fails, loses := []event.Event{event.Finished{Agent: "coder"}}, []event.Event{event.GaveUp{Agent: "coder"}}, []event.Event{event.LeaseLost{Agent: "coder"}}
	stuck, called := []event.Event{event.OwnerStuck{Agent: "coder"}}, []event.Event{event.Called{By: "agent/lead"}}
	handsOn := []event.Event{
		event.HandoffRequested{Handoff: 2, By: "agent/coder", Kind: event.Warm, Reason: event.ReasonError},
		event.OfferMade{Handoff: 2, Offer: 1, To: []string{"bob"}},
		event.Acknowledged{Handoff: 2, Offer: 1, Agent: "bob"},
		event.Confirmed{Handoff: 2, Auto: true},
		event.Moved{Handoff: 2, To: "bob", Hop: true},
	}
	takenAway := slices.Clone(handsOn)
	takenAway[0] = event.HandoffRequested{Handoff: 2, By: "operator/olga", Kind: event.Warm, Reason: event.ReasonError}
	for name, c := range map[string]struct {
		turns    [][]event.Event
		times    int
		own      bool
		then     agent.Event
		after    time.Duration
		want     bool
		value    float64
		handoffs []string
	}{
		"it fails all":                {turns: [][]event.Event{fails}, times: 3, want: true, value: 1, handoffs: []string{"t2.h1", "t1.h1", "t0.h1"}},
		"two are too few":             {turns: [][]event.Event{fails}, times: 2},
		"it loses every second one":   {turns: [][]event.Event{completes, loses}, times: 7, want: true, value: 3.0 / 7, handoffs: []string{"t5.h1", "t3.h1", "t1.h1"}},
		"it is stuck in each":         {turns: [][]event.Event{stuck}, times: 9, want: true, value: 1, handoffs: []string{"t8.h1", "t7.h1", "t6.h1", "t5.h1", "t4.h1"}},
		"one of many":                 {turns: [][]event.Event{fails, completes, completes, completes, completes}, times: 20},
		"it hands most on":            {turns: [][]event.Event{fails, handsOn, handsOn}, times: 9},
		"all are taken from it":       {turns: [][]event.Event{fails, takenAway, takenAway}, times: 9, want: true, value: 1, handoffs: []string{"t6.h1", "t3.h1", "t0.h1"}},
		"they are cancelled":          {turns: [][]event.Event{called}, times: 9},
		"they are its own":            {turns: [][]event.Event{fails}, times: 9, own: true},
		"it was long ago":             {turns: [][]event.Event{fails}, times: 9, after: 3*time.Hour + 10*time.Minute},
		"an operator has repaired it": {turns: [][]event.Event{fails}, times: 9, then: agent.CircuitReset{}},
		"it was removed":              {turns: [][]event.Event{fails}, times: 9, then: agent.Removed{}},
		"those before do not": {
			turns: slices.Concat(slices.Repeat([][]event.Event{completes}, 60), slices.Repeat([][]event.Event{fails}, 50), slices.Repeat([][]event.Event{completes}, 40)),
			times: 150, want: true, value: 0.5, handoffs: []string{"t109.h1", "t108.h1", "t107.h1", "t106.h1", "t105.h1"},
		},
		"the last hundred count": {turns: [][]event.Event{fails}, times: 150, want: true, value: 1, handoffs: []string{"t149.h1", "t148.h1", "t147.h1", "t146.h1", "t145.h1"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecord(t)
			r.registers("coder")
			for n := range c.times {
				requester := "lead"
				if c.own {
					requester = "coder"
				}
				r.gets(fmt.Sprint("t", n), requester, "coder", time.Minute, c.turns[n%len(c.turns)]...)
			}
			if c.then != nil {
				r.ofAgent("coder", c.then)
			}
			got := held(r.tally(figure.Options{}), 2*time.Minute+c.after)["agent-tasks-fail"]
			if got.Holds != c.want || got.Value != c.value || !slices.Equal(got.Handoffs, c.handoffs) {
				t.Errorf("%+v", got)
			}
			if c.want && (got.Agent != "coder" || !slices.Equal(got.Senders, []string{"lead"}) || !got.Since.Equal(noon.Add(time.Minute))) {
				t.Errorf("%+v", got)
			}
		})
	}
}
