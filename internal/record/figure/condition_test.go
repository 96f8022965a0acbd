package figure_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// held returns the conditions that hold at a time after noon, by name.
func held(t *figure.Tally, after time.Duration) map[string]alert.Condition {
	of := map[string]alert.Condition{}
	for _, c := range t.Conditions("main", alert.Definitions(), noon.Add(after)) {
		of[c.Name] = c
	}
	return of
}

// fails adds a handoff that fails.
func (r *record) fails(task string, after time.Duration) {
	r.Helper()
	r.add(task, after, event.Created{Task: task}, event.HandoffRequested{Handoff: 1, Kind: event.Warm, Reason: event.ReasonError}, event.Returned{Handoff: 1, Outcome: event.Expired})
}

func TestAFailedHandoffHoldsForFiveMinutesAndIsRememberedForADay(t *testing.T) {
	r := newRecord(t)
	for n := range 7 {
		r.fails(fmt.Sprint("t", n), time.Duration(n)*time.Second)
	}
	tally := r.tally(figure.Options{})
	c := held(tally, time.Minute)["handoff-failed"]
	if !c.Holds || c.Value != 7 || !slices.Equal(c.Handoffs, []string{"t6.h1", "t5.h1", "t4.h1", "t3.h1", "t2.h1"}) || !c.Newest.Equal(noon) || !c.Since.Equal(noon) {
		t.Errorf("%+v", c)
	}
	if c := held(tally, time.Hour)["handoff-failed"]; c.Holds || !c.Newest.Equal(noon) || len(c.Handoffs) != 5 || c.Value != 7 {
		t.Errorf("an hour later: %+v", c)
	}
	if c, ok := held(tally, 25*time.Hour)["handoff-failed"]; ok {
		t.Errorf("a day later: %+v", c)
	}
}

func TestTheFailureRateNeedsHandoffsToMeanAnything(t *testing.T) {
	const milder, severer = "handoff-failure-rate", "handoffs-fail-systemically"
	r := newRecord(t)
	after := 3 * time.Minute
	for n := range 16 {
		r.handoff(fmt.Sprint("t", n), "bob", time.Minute, time.Second)
	}
	for n := range 3 {
		r.fails(fmt.Sprint("f", n), 2*time.Minute)
	}
	if c := held(r.tally(figure.Options{}), after); c[milder].Holds || c[severer].Holds {
		t.Errorf("3 of 19: %+v", c)
	}
	r.handoff("t18", "bob", 2*time.Minute, time.Second)
	c := held(r.tally(figure.Options{}), after)[severer]
	if !c.Holds || c.Value != 0.15 || !slices.Equal(c.Handoffs, []string{"f2.h1", "f1.h1", "f0.h1"}) {
		t.Errorf("3 of 20: %+v", c)
	}
	if c := held(r.tally(figure.Options{}), 63*time.Minute); len(c) != 1 {
		t.Errorf("when the window is over: %+v", c)
	}
}

// TestAFailureByItselfIsNoRate: where little is sent, one bad handoff would call the operators.
func TestAFailureByItselfIsNoRate(t *testing.T) {
	const milder, severer = "handoff-failure-rate", "handoffs-fail-systemically"
	r := newRecord(t)
	for n := range 20 {
		r.handoff(fmt.Sprint("t", n), "bob", time.Minute, time.Second)
	}
	for failed, want := range [][2]bool{{false, false}, {false, false}, {true, false}, {true, true}} {
		if failed > 0 {
			r.fails(fmt.Sprint("f", failed), 2*time.Minute)
		}
		if c := held(r.tally(figure.Options{}), 3*time.Minute); c[milder].Holds != want[0] || c[severer].Holds != want[1] {
			t.Errorf("%d of %d: %+v", failed, 20+failed, c)
		}
	}
}

// renders adds a handoff whose envelope is packed.
func (r *record) renders(task string, after time.Duration, completeness, utilisation float64) {
	r.Helper()
	r.add(task, after, event.Created{Task: task}, event.HandoffRequested{Handoff: 1, Kind: event.Warm, Reason: event.ReasonError}, event.OfferMade{Handoff: 1, Offer: 1, To: []string{"bob"}})
	r.add(task, after, event.Rendered{Handoff: 1, Offer: 1, Budget: 4000, Completeness: completeness, Utilisation: utilisation},
		event.Acknowledged{Handoff: 1, Offer: 1, Agent: "bob"}, event.Confirmed{Handoff: 1, Auto: true}, event.Moved{Handoff: 1, To: "bob", Hop: true})
}

// TestOneEnvelopeIsNoAverage: where little is packed, one that lacks everything would be an average.
func TestOneEnvelopeIsNoAverage(t *testing.T) {
	for _, c := range []struct {
		whole, lacking   int
		incomplete, lost bool
	}{{4, 1, false, false}, {3, 2, true, false}, {18, 1, false, false}, {18, 2, true, false}, {9, 9, true, false}, {14, 6, true, true}} {
		r := newRecord(t)
		for n := range c.whole + c.lacking {
			completeness := 0.0
			if n >= c.lacking {
				completeness = 1
			}
			r.renders(fmt.Sprint("t", n), time.Minute, completeness, 0.5)
		}
		if got := held(r.tally(figure.Options{}), 2*time.Minute); got["context-incomplete"].Holds != c.incomplete || got["context-lost"].Holds != c.lost {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

func TestCompletenessIsAveragedOverAllHandoffsOfTheWindow(t *testing.T) {
	r := newRecord(t)
	for n := range 4 {
		r.renders(fmt.Sprint("nothing", n), 0, 0, 0.5)
	}
	if c := held(r.tally(figure.Options{}), time.Minute); c["context-lost"].Holds || c["context-incomplete"].Holds {
		t.Errorf("of four envelopes: %+v", c)
	}
	r.renders("half", time.Minute, 0.5, 0.5)
	if c := held(r.tally(figure.Options{}), time.Minute); c["context-lost"].Holds || !c["context-incomplete"].Holds || math.Abs(c["context-incomplete"].Value-0.1) > 1e-9 {
		t.Errorf("of five: %+v", c)
	}
	for n := range 15 {
		r.renders(fmt.Sprint("whole", n), 2*time.Minute, 1, 0.5)
	}
	c := held(r.tally(figure.Options{}), 3*time.Minute)
	if lost := c["context-lost"]; !lost.Holds || lost.Value != 0.775 || len(lost.Handoffs) != 5 || lost.Handoffs[4] != "half.h1" || !lost.Since.Equal(noon.Add(2*time.Minute)) {
		t.Errorf("of 20: %+v", lost)
	}
	for n := range 10 {
		r.renders(fmt.Sprint("more", n), 3*time.Minute, 1, 0.5)
	}
	if c := held(r.tally(figure.Options{}), 4*time.Minute); c["context-lost"].Holds || !c["context-incomplete"].Holds || c["context-incomplete"].Value != 0.85 {
		t.Errorf("%+v", c)
	}
}

func TestEnvelopesWithoutABudgetHaveNoUtilisation(t *testing.T) {
	r := newRecord(t)
	none := event.Rendered{Handoff: 1, Offer: 1, Tokens: 700, Completeness: 1}
	for n := range 120 {
		task, after := fmt.Sprint("t", n), time.Duration(n)*time.Minute
		r.add(task, after, event.Created{Task: task}, event.HandoffRequested{Handoff: 1, Kind: event.Warm, Reason: event.ReasonError}, event.OfferMade{Handoff: 1, Offer: 1, To: []string{"bob"}}, none,
			event.Acknowledged{Handoff: 1, Offer: 1, Agent: "bob"}, event.Confirmed{Handoff: 1, Auto: true}, event.Moved{Handoff: 1, To: "bob", Hop: true})
	}
	r.renders("half", time.Hour, 1, 0.5)
	tally := r.tally(figure.Options{})
	if c := held(tally, 2*time.Hour); c["budgets-unused"].Holds {
		t.Errorf("%+v", c["budgets-unused"])
	}
	points, _ := tally.Points()
	for i := range points {
		if p := &points[i]; p.Instrument == figure.EnvelopeUtilisation && (p.Spread.Count != 1 || p.Spread.Sum != 0.5) {
			t.Errorf("%+v", p.Spread)
		}
	}
	list, _ := tally.Recent("main", noon)
	if g := figure.GroupOf("", list); g.Packed != 121 || g.Budgeted != 1 || g.Utilisation != 0.5 || g.Completeness != 1 {
		t.Errorf("%+v", g)
	}
}

func TestUtilisationMustBeLowOrFullForTheWholeTime(t *testing.T) {
	for name, utilisation := range map[string]float64{"budgets-unused": 0.01, "budgets-full": 1} {
		r := newRecord(t)
		for n := range 8 {
			for m := range 5 {
				r.renders(fmt.Sprint("t", n, "-", m), time.Duration(n)*10*time.Minute, 1, utilisation)
			}
		}
		tally := r.tally(figure.Options{})
		if c, ok := held(tally, 59*time.Minute)[name]; ok {
			t.Errorf("too soon: %+v", c)
		}
		if c := held(tally, 75*time.Minute)[name]; !c.Holds || math.Abs(c.Value-utilisation) > 1e-9 || len(c.Handoffs) != 5 || !c.Since.Equal(noon) {
			t.Errorf("%+v", c)
		}
	}
}

// ends adds a task that ends after some hops.
func (r *record) ends(task string, after time.Duration, hops int) {
	r.Helper()
	r.endsOf("", task, after, hops)
}

// endsOf adds a task of a requester that ends after so many hops.
func (r *record) endsOf(requester, task string, after time.Duration, hops int) {
	r.Helper()
	r.add(task, after, event.Created{Task: task, Requester: requester})
	for n := 1; n <= hops; n++ {
		r.add(task, after, event.HandoffRequested{Handoff: n, Kind: event.Warm, Reason: event.ReasonError}, event.OfferMade{Handoff: n, Offer: 1, To: []string{"bob"}},
			event.Acknowledged{Handoff: n, Offer: 1, Agent: "bob"}, event.Confirmed{Handoff: n, Auto: true}, event.Moved{Handoff: n, To: "bob", Hop: true})
	}
	r.add(task, after, event.Finished{})
}

func TestHopsRiseAgainstTheAverageOfTheDay(t *testing.T) {
	r := newRecord(t)
	for n := range 40 {
		r.ends(fmt.Sprint("t", n), time.Duration(n)*10*time.Minute, 1)
	}
	for n := range 6 {
		r.ends(fmt.Sprint("long", n), 8*time.Hour+time.Duration(n)*5*time.Minute, 6+n%2)
	}
	tally := r.tally(figure.Options{})
	if c, ok := held(tally, 7*time.Hour)["hops-rise"]; ok {
		t.Errorf("as always: %+v", c)
	}
	c := held(tally, 8*time.Hour+45*time.Minute)["hops-rise"]
	if !c.Holds || c.Value < 3 || !slices.Equal(c.Handoffs, []string{"long5.h7", "long3.h7", "long1.h7", "long4.h6", "long2.h6"}) {
		t.Errorf("%+v", c)
	}
}

func TestDeadLettersHoldAfterFiveMinutesAndNameTheirHandoffs(t *testing.T) {
	r := newRecord(t)
	r.add("t1", 0, event.Created{Task: "t1"}, event.HandoffRequested{Handoff: 1, Kind: event.Warm, Reason: event.ReasonError}, event.ParkedTask{})
	r.add("t2", 0, event.Created{Task: "t2"}, event.HandoffRequested{Handoff: 1, Kind: event.Warm, Reason: event.ReasonError}, event.ParkedTask{})
	r.add("t1", time.Minute, event.Discarded{})
	tally := r.tally(figure.Options{})
	if c, ok := held(tally, 5*time.Minute-1)["dead-letters"]; ok {
		t.Errorf("%+v", c)
	}
	if c := held(tally, 5*time.Minute)["dead-letters"]; !c.Holds || c.Value != 1 || !c.Since.Equal(noon) || !slices.Equal(c.Handoffs, []string{"t2.h1"}) {
		t.Errorf("%+v", c)
	}
}

func TestAnIncompleteAuditIsACondition(t *testing.T) {
	r := newRecord(t)
	r.handoff("t1", "bob", 0, time.Second)
	r.handoff("t2", "bob", 0, time.Second)
	r.versions["t2"]++
	r.add("t2", time.Minute, event.HandoffRequested{Handoff: 2, Kind: event.Warm, Reason: event.ReasonError}, event.OfferMade{Handoff: 2, Offer: 1, To: []string{"ann"}},
		event.Acknowledged{Handoff: 2, Offer: 1, Agent: "ann"}, event.Confirmed{Handoff: 2, Auto: true}, event.Moved{Handoff: 2, To: "ann", Hop: true})
	if c := held(r.tally(figure.Options{}), time.Hour)["audit-incomplete"]; !c.Holds || c.Value >= 1 || !slices.Equal(c.Handoffs, []string{"t2.h2"}) {
		t.Errorf("%+v", c)
	}
}

func TestFailuresInARowOfAnAgentAreNamed(t *testing.T) {
	tally := figure.NewTally(figure.Options{MaxAgents: 1})
	codec := ledger.NewCodec(agent.Events...)
	position := ledger.Position(0)
	add := func(name string, events ...agent.Event) {
		t.Helper()
		encoded, err := codec.EncodeAll(events)
		if err != nil {
			t.Fatal(err)
		}
		position++
		e := ledger.Entry{Position: position, Stream: ledger.StreamOf("main", "agent", name), Version: uint64(position), Time: noon.Add(time.Duration(position) * time.Minute), Events: encoded}
		if err := tally.Add([]ledger.Entry{e}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 7 {
		add("bob", agent.FailureCounted{Handoff: fmt.Sprint("t", n, ".h1"), Failures: n + 1, Sender: "agent/ann"})
	}
	for least, minute := range []int{1, 1, 2, 3, 4, 5, 6, 7, 1} { // 8 have not failed: the oldest counts
		list, since := tally.FailuresOf("main", "bob", least)
		if !reflect.DeepEqual(list, []string{"t6.h1", "t5.h1", "t4.h1", "t3.h1", "t2.h1"}) || !since.Equal(noon.Add(time.Duration(minute)*time.Minute)) {
			t.Errorf("%d: %v since %s", least, list, since)
		}
	}
	add("bob", agent.FailuresCleared{Sender: "agent/lea"})
	if list, _ := tally.FailuresOf("main", "bob", 3); len(list) != 5 {
		t.Errorf("the success of another sender: %v", list)
	}
	add("bob", agent.FailuresCleared{Sender: "agent/ann"})
	if list, since := tally.FailuresOf("main", "bob", 3); len(list) != 0 || !since.IsZero() {
		t.Errorf("%v since %s", list, since)
	}
	add("eve", agent.FailureCounted{Handoff: "t1.h1", Failures: 1})
	if list, _ := tally.FailuresOf("main", "eve", 1); len(list) != 0 {
		t.Errorf("an agent past the names that are told apart: %v", list)
	}
}

func TestConditionsAreTheSameAfterARestartAndBoundedInMemory(t *testing.T) {
	r := newRecord(t)
	for n := range 4000 { // almost three days
		r.fails(fmt.Sprint("t", n), time.Duration(n)*time.Minute)
	}
	one, two := r.tally(figure.Options{}), figure.NewTally(figure.Options{})
	for i := range r.entries {
		if err := two.Add(r.entries[i : i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := held(one, 4000*time.Minute), held(two, 4000*time.Minute); len(a) != 3 || !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\n%+v", a, b)
	}
	minutes := reflect.ValueOf(one).Elem().FieldByName("past").MapIndex(reflect.ValueOf("main")).Elem().FieldByName("slots")
	if n := minutes.Len(); n > 31*60 {
		t.Errorf("%d minutes are kept", n)
	}
}

func TestAnEnvelopeThatComesWithTheTaskBelongsToItsHandoff(t *testing.T) {
	r := newRecord(t)
	late := event.Rendered{Handoff: 1, Offer: 1, Tokens: 700, Budget: 2800, Completeness: 0.5, Utilisation: 0.25}
	r.add("t1", 0, event.Created{Task: "t1"}, event.HandoffRequested{Handoff: 1, Kind: event.Warm, Reason: event.ReasonError}, event.OfferMade{Handoff: 1, Offer: 1, To: []string{"bob"}})
	r.add("t1", 0, event.Acknowledged{Handoff: 1, Offer: 1, Agent: "bob"}, event.Confirmed{Handoff: 1, Auto: true}, event.Moved{Handoff: 1, To: "bob", Hop: true}, late)
	r.handoff("t2", "bob", time.Minute, time.Second)
	r.add("t2", 2*time.Minute, late) // it is fetched later
	tally := r.tally(figure.Options{})
	list, _ := tally.Recent("main", noon)
	for _, h := range list {
		if h.Tokens != 700 || h.Completeness != 0.5 || h.Utilisation != 0.25 {
			t.Errorf("%+v", h)
		}
	}
	if g := figure.GroupOf("", list); !slices.Equal(g.Incomplete, []string{"t1.h1", "t2.h1"}) {
		t.Errorf("%+v", g)
	}
	for n := range 3 { // those before are no longer kept
		r.handoff(fmt.Sprint("more", n), "bob", 3*time.Minute, time.Second)
	}
	r.add("t1", 4*time.Minute, late)
	list, _ = r.tally(figure.Options{MaxRecent: 2}).Recent("main", noon)
	if len(list) != 2 || list[0].Tokens != 0 || list[1].Tokens != 0 {
		t.Errorf("%+v", list)
	}
}

func TestAFailureByALostTaskNamesTheHandoffThatGaveIt(t *testing.T) {
	r := newRecord(t)
	r.agentIs("main", "bob", agent.Registered{Name: "bob"})
	for n, ev := range []event.Event{event.LeaseLost{Agent: "bob"}, event.OwnerStuck{Agent: "bob"}, event.LeaseLost{Agent: "bob"}} {
		task := fmt.Sprint("t", n)
		r.renders(task, 0, 1, 0.5)
		r.add(task, time.Minute, ev, event.HandoffRequested{Handoff: 2, Kind: event.Warm, Reason: event.ReasonRecovery})
		r.agentIs("main", "bob", agent.FailureCounted{Outcome: agent.LeaseLost, Task: task, Failures: n + 1})
	}
	r.add("own", 0, event.Created{Task: "own"}, event.Started{Agent: "bob"}, event.LeaseLost{Agent: "bob"})
	r.agentIs("main", "bob", agent.CircuitOpened{Outcome: agent.LeaseLost, Task: "own", Failures: 4})
	if list, _ := r.tally(figure.Options{}).FailuresOf("main", "bob", 3); !slices.Equal(list, []string{"t2.h1", "t1.h1", "t0.h1"}) {
		t.Error(list)
	}
}

func TestWhatASuccessEndsIsNotBehindAnAlertAnyMore(t *testing.T) {
	r := newRecord(t)
	is := func(ev agent.Event) { t.Helper(); r.agentIs("main", "bob", ev) }
	is(agent.Registered{Name: "bob"})
	is(agent.FailureCounted{Outcome: agent.LeaseLost, Handoff: "t0.h1", Sender: "agent/lead", Failures: 1})
	is(agent.FailureCounted{Outcome: agent.Unanswered, Handoff: "t1.h1", Sender: "agent/lead", Failures: 2})
	is(agent.FailureCounted{Outcome: agent.Unanswered, Handoff: "t2.h1", Sender: "agent/other", Failures: 1})
	for _, step := range []struct {
		ends agent.FailuresCleared
		left []string
	}{
		{agent.FailuresCleared{Outcome: agent.Accepted, Sender: "agent/lead"}, []string{"t2.h1", "t0.h1"}},
		{agent.FailuresCleared{Outcome: agent.Ended}, []string{"t2.h1"}},
		{agent.FailuresCleared{Sender: "agent/other"}, nil},
	} {
		is(step.ends)
		if list, _ := r.tally(figure.Options{}).FailuresOf("main", "bob", 1); !slices.Equal(list, step.left) {
			t.Errorf("after %+v: %v, want %v", step.ends, list, step.left)
		}
	}
}
