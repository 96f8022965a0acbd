package figure_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// record is entries of tasks, as a ledger would give them.
type record struct {
	testing.TB
	codec    *ledger.Codec[event.Event]
	entries  []ledger.Entry
	versions map[string]uint64
}

func newRecord(t testing.TB) *record {
	return &record{TB: t, codec: ledger.NewCodec(event.Events...), versions: map[string]uint64{}}
}

// add appends an entry of a task at a time after noon.
func (r *record) add(task string, after time.Duration, events ...event.Event) {
	r.Helper()
	encoded, err := r.codec.EncodeAll(events)
	if err != nil {
		r.Fatal(err)
	}
	r.versions[task]++
	r.entries = append(r.entries, ledger.Entry{
		Position: ledger.Position(len(r.entries) + 1), Stream: ledger.StreamOf("main", "task", task), Version: r.versions[task], Time: noon.Add(after), Events: encoded,
	})
}

// handoff adds a handoff that an agent accepts some time after its request.
func (r *record) handoff(task, agent string, after, took time.Duration) {
	r.Helper()
	r.add(task, after, event.Created{Task: task}, event.HandoffRequested{Handoff: 1, Kind: event.Warm, Reason: event.ReasonError}, event.OfferMade{Handoff: 1, Offer: 1, To: []string{agent}})
	r.add(task, after+took, event.Acknowledged{Handoff: 1, Offer: 1, Agent: agent}, event.Confirmed{Handoff: 1, Auto: true}, event.Moved{Handoff: 1, To: agent, Hop: true})
}

func (r *record) tally(o figure.Options) *figure.Tally {
	r.Helper()
	t := figure.NewTally(o)
	if err := t.Add(r.entries); err != nil {
		r.Fatal(err)
	}
	return t
}

// lines shows points.
func lines(points []figure.Point) (list []string) {
	for i := range points {
		p := &points[i]
		line := fmt.Sprint(p.Instrument.Name, p.Values, p.Value)
		if p.Spread != nil {
			line += fmt.Sprint(*p.Spread)
		}
		list = append(list, line)
	}
	return list
}

func TestEveryInstrumentIsDefinedOnceAndCompletely(t *testing.T) {
	behindNothing := []*figure.Instrument{figure.ViewLag} // of the whole record
	for _, i := range figure.Instruments() {
		nothing := i.Origin == figure.Process || slices.Contains(behindNothing, i)
		if nothing != (i.Behind == "") || strings.Contains(i.Behind, "AGENT") && !slices.Contains(i.Labels, "agent") {
			t.Errorf("what is behind %s is shown by %q", i.Name, i.Behind)
		}
		ofNow := strings.HasSuffix(i.Behind, " list") || strings.HasSuffix(i.Behind, "--live")
		if i.Type != figure.Gauge && ofNow || strings.HasPrefix(i.Behind, "trapeze stats") && !strings.Contains(i.Behind, "--span 24h") {
			t.Errorf("%q shows what is behind %s of another time", i.Behind, i.Name)
		}
	}
	names := map[string]bool{}
	for _, i := range figure.Instruments() {
		if names[i.Name] || names[i.Prometheus()] || !strings.HasPrefix(i.Name, "trapeze.") || i.Unit == "" || !strings.HasSuffix(i.Meaning, ".") {
			t.Errorf("%+v", i)
		}
		names[i.Name], names[i.Prometheus()] = true, true
		if (i.Type == figure.Histogram) != (len(i.Bounds) > 0) || !slices.IsSorted(i.Bounds) || len(i.Labels) > figure.MaxLabels {
			t.Errorf("%s: bounds %v, labels %v", i.Name, i.Bounds, i.Labels)
		}
		for _, l := range i.Labels {
			if figure.Labels[l] == "" {
				t.Errorf("%s: the label %s has no meaning", i.Name, l)
			}
		}
		if i.Origin == figure.Record && !slices.Contains(i.Labels, "workspace") {
			t.Errorf("%s does not say of which workspace it is", i.Name)
		}
	}
}

func TestEntriesAreCountedOnceHoweverTheyCome(t *testing.T) {
	r := newRecord(t)
	for n := range 20 {
		r.handoff(fmt.Sprint("t", n), "bob", time.Duration(n)*time.Minute, time.Second)
	}
	want, at := r.tally(figure.Options{}).Points()
	again := figure.NewTally(figure.Options{})
	for i := range r.entries {
		if err := again.Add(r.entries[max(0, i-3) : i+1]); err != nil { // most of them for the fourth time
			t.Fatal(err)
		}
	}
	if got, where := again.Points(); at != where || !reflect.DeepEqual(lines(got), lines(want)) {
		t.Errorf("at %d:\n%s\nat %d:\n%s", where, strings.Join(lines(got), "\n"), at, strings.Join(lines(want), "\n"))
	}
}

func TestAnAttackerWhoInventsNamesCannotGrowTheLabels(t *testing.T) {
	r := newRecord(t)
	for n := range 200 {
		r.handoff(fmt.Sprint("t", n), fmt.Sprint("agent", n), time.Minute, time.Second)
	}
	points, _ := r.tally(figure.Options{MaxAgents: 5}).Points()
	names := map[string]uint64{}
	for i := range points {
		if p := &points[i]; p.Instrument == figure.HandoffAcceptance {
			names[p.Label("agent")] += p.Spread.Count
		}
	}
	if len(names) != 6 || names[figure.Other] != 195 {
		t.Error(names)
	}
	closed := map[string]bool{}
	for _, v := range append(event.Kinds.Values(), "") {
		closed["kind "+string(v)] = true
	}
	for _, v := range event.Reasons.Values() {
		closed["reason "+string(v)] = true
	}
	for i := range points {
		for _, l := range []string{"kind", "reason"} {
			if v := points[i].Label(l); v != "" && !closed[l+" "+v] {
				t.Errorf("%s has %s %q", points[i].Instrument.Name, l, v)
			}
		}
	}
}

func TestAMissingEntryShowsInTheAuditCoverage(t *testing.T) {
	coverage := func(t testing.TB, r *record) float64 {
		points, _ := r.tally(figure.Options{}).Points()
		for i := range points {
			if points[i].Instrument == figure.AuditCoverage {
				return points[i].Value
			}
		}
		t.Fatal("there is no coverage")
		return 0
	}
	whole := newRecord(t)
	whole.handoff("a", "bob", 0, time.Second)
	whole.handoff("b", "bob", 0, time.Second)
	if got := coverage(t, whole); got != 1 {
		t.Errorf("of a whole record: %g", got)
	}
	gap := newRecord(t)
	gap.handoff("a", "bob", 0, time.Second)
	gap.add("b", 0, event.Created{Task: "b"}, event.HandoffRequested{Handoff: 1, Kind: event.Warm})
	gap.versions["b"]++ // an entry is lost
	gap.add("b", time.Second, event.Acknowledged{Handoff: 1, Agent: "bob"}, event.Confirmed{Handoff: 1}, event.Moved{Handoff: 1, To: "bob"})
	if got := coverage(t, gap); got != 0.5 {
		t.Errorf("with a lost entry: %g", got)
	}
	half := newRecord(t)
	half.add("b", 0, event.Created{Task: "b"}, event.HandoffRequested{Handoff: 1, Kind: event.Warm})
	half.add("b", time.Second, event.Moved{Handoff: 1, To: "bob"}) // nobody accepted
	if got := coverage(t, half); got != 0 {
		t.Errorf("without an acknowledgment: %g", got)
	}
	for lost, whole := range []bool{false, false, false, false, true, true} { // each entry of a task of two handoffs
		r := newRecord(t)
		r.handoff("a", "bob", 0, time.Second)
		for n, events := range [][]event.Event{
			{event.Created{Task: "b"}, event.HandoffRequested{Handoff: 1, From: "agent/ann", Kind: event.Warm}},
			{event.Acknowledged{Handoff: 1, Agent: "bob"}, event.Confirmed{Handoff: 1}, event.Moved{Handoff: 1, To: "bob"}},
			{event.HandoffRequested{Handoff: 2, From: "bob", Kind: event.Warm}},
			{event.Acknowledged{Handoff: 2, Agent: "cy"}, event.Confirmed{Handoff: 2}, event.Moved{Handoff: 2, To: "cy"}},
			{event.LeaseRenewed{}},
			{event.Finished{Agent: "cy"}},
		} {
			if n == lost {
				r.versions["b"]++
				continue
			}
			r.add("b", time.Second, events...)
		}
		if got := coverage(t, r); (got == 1) != whole {
			t.Errorf("without entry %d of the task the coverage is %g", lost, got)
		}
	}
	back := newRecord(t)
	back.handoff("a", "bob", 0, time.Second)
	back.add("b", 0, event.Created{Task: "b"}, event.Started{Agent: "ann"}, event.HandoffRequested{Handoff: 1, From: "ann", Kind: event.Warm})
	back.versions["b"]++ // that nobody took it
	back.add("b", time.Second, event.Finished{Agent: "ann"})
	if got := coverage(t, back); got != 1 {
		t.Errorf("a handoff that moved nothing makes the coverage %g", got)
	}
}

func TestOpenTasksCanBeCountedAtAnEarlierPosition(t *testing.T) {
	r := newRecord(t)
	r.add("a", 0, event.Created{Task: "a"})
	r.add("b", 0, event.Created{Task: "b"})
	r.add("a", 0, event.ParkedTask{Cause: event.ParkLimit})
	r.add("b", 0, event.Finished{})
	tally := r.tally(figure.Options{})
	for at, want := range []figure.Open{{}, {Tasks: 1}, {Tasks: 2}, {Tasks: 2, Parked: 1}, {Tasks: 1, Parked: 1}} {
		if counts, ok := tally.OpenAt(ledger.Position(at)); !ok || counts["main"] != want {
			t.Errorf("at %d: %+v, %v; want %+v", at, counts, ok, want)
		}
	}
	if _, ok := tally.OpenAt(5); ok {
		t.Error("it counts what it does not have")
	}
	for n := range 20_000 {
		r.add(fmt.Sprint("n", n), 0, event.Created{})
	}
	tally = r.tally(figure.Options{})
	last := ledger.Position(len(r.entries))
	if counts, ok := tally.OpenAt(last - 5000); !ok || counts["main"].Tasks != 15_001 {
		t.Errorf("5000 entries ago: %+v, %v", counts, ok)
	}
	if _, ok := tally.OpenAt(4); ok {
		t.Error("it says that it remembers everything")
	}
}

func TestRecentHandoffsAreBoundedAndSaySo(t *testing.T) {
	r := newRecord(t)
	for n := range 30 {
		r.handoff(fmt.Sprint("t", n), "bob", time.Duration(n)*time.Minute, time.Duration(n+1)*time.Second)
	}
	tally := r.tally(figure.Options{MaxRecent: 10})
	list, complete := tally.Recent("main", noon)
	if len(list) != 10 || list[0].ID() != "t20.h1" || !complete.Equal(noon.Add(19*time.Minute+20*time.Second)) {
		t.Errorf("%d from %s, complete since %s", len(list), list[0].ID(), complete)
	}
	if list, complete := tally.Recent("main", noon.Add(25*time.Minute)); len(list) != 5 || !complete.Equal(noon.Add(25*time.Minute)) {
		t.Errorf("%d, complete since %s", len(list), complete)
	}
	if list, _ := tally.Recent("other", noon); len(list) != 0 {
		t.Errorf("another workspace sees %d", len(list))
	}
	if got := figure.Slowest(list, 2); !slices.Equal(got, []string{"t29.h1", "t28.h1"}) {
		t.Errorf("the slowest: %q", got)
	}
}

func TestQuantilesAreThoseOfTheNearestRank(t *testing.T) {
	all := []time.Duration{}
	for n := range 200 {
		all = append(all, time.Duration(200-n)*time.Second)
	}
	if got := figure.QuantilesOf(all); got != (figure.Quantiles{Count: 200, P50: 100, P95: 190, P99: 198, Max: 200}) {
		t.Errorf("%+v", got)
	}
	if got := figure.QuantilesOf([]time.Duration{time.Second}); got != (figure.Quantiles{Count: 1, P50: 1, P95: 1, P99: 1, Max: 1}) {
		t.Errorf("of one: %+v", got)
	}
	if got := figure.QuantilesOf(nil); got != (figure.Quantiles{}) {
		t.Errorf("of none: %+v", got)
	}
}

func TestEachFigureOfAGroupNamesTheHandoffsBehindIt(t *testing.T) {
	var list []figure.Handoff
	for n, of := range []struct {
		retries  int
		complete float64
	}{{0, -1}, {1, 1}, {3, 0.5}, {2, 0.25}, {3, 0.5}, {1, 1}, {1, 0.75}} {
		list = append(list, figure.Handoff{Task: fmt.Sprint("task_", n), N: 1, Retries: of.retries, Completeness: of.complete, Utilisation: 1})
	}
	g := figure.GroupOf("coder", list)
	if want := []string{"task_2.h1", "task_4.h1", "task_3.h1", "task_1.h1", "task_5.h1"}; !slices.Equal(g.Retried, want) {
		t.Errorf("retried: %q, want %q", g.Retried, want)
	}
	if want := []string{"task_3.h1", "task_2.h1", "task_4.h1", "task_6.h1"}; !slices.Equal(g.Incomplete, want) {
		t.Errorf("incomplete: %q, want %q", g.Incomplete, want)
	}
	if want := []string{"task_1.h1", "task_2.h1", "task_3.h1", "task_4.h1", "task_5.h1"}; !slices.Equal(g.Largest, want) {
		t.Errorf("with most tokens: %q, want %q", g.Largest, want)
	}
	list[3].Tokens = 9
	if g := figure.GroupOf("coder", list); g.Largest[0] != "task_3.h1" || g.Lost+g.MostHops+len(g.Losses)+len(g.Farthest) > 0 {
		t.Errorf("%+v", g)
	}
}

// TestAHandoffIsKnownByWhatBecameOfItsTask: by the hops of the task with it, and by whether its receiver lost the task or failed it.
func TestAHandoffIsKnownByWhatBecameOfItsTask(t *testing.T) {
	r := newRecord(t)
	r.gets("done", "lead", "coder", 0, event.Finished{Agent: "coder"})
	r.gets("silent", "lead", "coder", time.Minute, event.LeaseLost{Agent: "coder"})
	r.gets("stuck", "lead", "coder", 2*time.Minute, event.OwnerStuck{Agent: "coder"})
	r.gets("failed", "lead", "coder", 3*time.Minute, event.GaveUp{Agent: "coder"})
	r.gets("on", "lead", "coder", 4*time.Minute,
		event.HandoffRequested{Handoff: 2, From: "coder", By: "agent/coder", Kind: event.Warm, Reason: event.ReasonError}, event.Returned{Handoff: 2, Outcome: event.Rejected},
		event.HandoffRequested{Handoff: 3, From: "coder", By: "agent/coder", Kind: event.Warm, Reason: event.ReasonError}, event.OfferMade{Handoff: 3, Offer: 1, To: []string{"bob"}},
		event.Acknowledged{Handoff: 3, Offer: 1, Agent: "bob"}, event.Confirmed{Handoff: 3, Auto: true}, event.Moved{Handoff: 3, To: "bob", Hop: true},
		event.HandoffRequested{Handoff: 4, From: "bob", By: "agent/bob", Kind: event.Warm, Reason: event.ReasonError}, event.Returned{Handoff: 4, Outcome: event.Rejected}, event.LeaseLost{Agent: "bob"})
	r.add("own", 5*time.Minute, event.Created{Task: "own"}, event.Started{Agent: "coder"}, event.LeaseLost{Agent: "coder"}) // no handoff gave it
	list, _ := r.tally(figure.Options{}).Recent("main", noon)
	g := figure.GroupOf("", list)
	if want := []string{"on.h3", "failed.h1", "stuck.h1", "silent.h1"}; g.Lost != 4 || !slices.Equal(g.Losses, want) {
		t.Errorf("%d lost: %q, want %q", g.Lost, g.Losses, want)
	}
	if want := []string{"on.h3", "done.h1", "silent.h1", "stuck.h1", "failed.h1"}; g.MostHops != 2 || !slices.Equal(g.Farthest, want) {
		t.Errorf("%d hops: %q, want %q", g.MostHops, g.Farthest, want)
	}
	list, _ = r.tally(figure.Options{MaxRecent: 1}).Recent("main", noon) // what is no longer kept is not marked in another's place
	if len(list) != 1 || list[0].ID() != "on.h4" || list[0].Lost {
		t.Errorf("%+v", list)
	}
}

func TestADeniedHandoffHasNotFailed(t *testing.T) {
	r := newRecord(t)
	end := func(task string, events ...event.Event) {
		r.add(task, 0, append([]event.Event{event.Created{Task: task}, event.HandoffRequested{Handoff: 1, Kind: event.Supervised, Reason: event.ReasonError}}, events...)...)
	}
	end("denied", event.Denied{}, event.Returned{Handoff: 1, Outcome: event.Rejected})
	end("rejected", event.Returned{Handoff: 1, Outcome: event.Rejected})
	end("withdrawn", event.Returned{Handoff: 1, Outcome: event.Withdrawn})
	end("parked", event.ParkedTask{Cause: event.ParkExhausted})
	points, _ := r.tally(figure.Options{}).Points()
	for i := range points {
		if p := &points[i]; p.Instrument == figure.HandoffsFailed && p.Value != 2 {
			t.Errorf("%g have failed", p.Value)
		}
	}
	list, _ := r.tally(figure.Options{}).Recent("main", noon)
	if got := figure.FailedOf(list, 5); !slices.Equal(got, []string{"parked.h1", "rejected.h1"}) {
		t.Errorf("failed: %q", got)
	}
}
