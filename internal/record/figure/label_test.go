package figure_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// agentIs appends an entry of an agent of a workspace.
func (r *record) agentIs(workspace, name string, e agent.Event) {
	r.Helper()
	encoded, err := ledger.NewCodec(agent.Events...).EncodeAll([]agent.Event{e})
	if err != nil {
		r.Fatal(err)
	}
	s := ledger.StreamOf(workspace, "agent", name)
	r.versions[string(s)]++
	r.entries = append(r.entries, ledger.Entry{Position: ledger.Position(len(r.entries) + 1), Stream: s, Version: r.versions[string(s)], Time: noon, Events: encoded})
}

// accepted are the handoffs that were accepted, by workspace and agent.
func accepted(points []figure.Point) map[string]uint64 {
	by := map[string]uint64{}
	for i := range points {
		if p := &points[i]; p.Instrument == figure.HandoffAcceptance {
			by[p.Label("workspace")+"/"+p.Label("agent")] += p.Spread.Count
		}
	}
	return by
}

func TestAgentsThatWereRemovedLeaveTheirLabelsToOthers(t *testing.T) {
	r := newRecord(t)
	for n := range 50 {
		name := fmt.Sprint("agent", n)
		r.agentIs("main", name, agent.Registered{Name: name})
		r.handoff(fmt.Sprint("t", n), name, time.Minute, time.Second)
		if n >= 3 { // three stay
			r.agentIs("main", name, agent.Removed{})
		}
	}
	r.agentIs("main", "agent7", agent.Registered{Name: "agent7", Registration: 2})
	r.handoff("again", event.AgentID("agent7", 2), time.Minute, time.Second)
	tally := r.tally(figure.Options{MaxAgents: 5})
	points, _ := tally.Points()
	by, all := accepted(points), uint64(0)
	for _, n := range by {
		all += n
	}
	if all != 51 || len(by) > 6 || by["main/agent0"] != 1 || by["main/agent2"] != 1 || by["main/agent7~2"] != 1 || by["main/"+figure.Other] < 46 {
		t.Errorf("%d: %v", all, by)
	}
	if tally.Agent("main", "agent1") != "agent1" {
		t.Error("an agent that is there has no label")
	}
}

func TestAnAgentThatIsCalledOtherIsNotCountedWithTheOthers(t *testing.T) {
	r := newRecord(t)
	r.agentIs("main", figure.Other, agent.Registered{Name: figure.Other})
	r.handoff("first", figure.Other, time.Minute, time.Second)
	for n := range 3 {
		r.handoff(fmt.Sprint("t", n), fmt.Sprint("agent", n), time.Minute, time.Second)
	}
	points, _ := r.tally(figure.Options{MaxAgents: 2}).Points()
	if by := accepted(points); by["main/"+figure.AgentOther] != 1 || by["main/"+figure.Other] != 2 {
		t.Errorf("%v", by)
	}
}

func TestWorkspacesWithoutAgentsLeaveTheirLabelsToOthers(t *testing.T) {
	r := newRecord(t)
	for n := range 1500 {
		name, task := fmt.Sprint("w", n), fmt.Sprint("t", n)
		r.agentIs(name, "ann", agent.Registered{Name: "ann"})
		from := len(r.entries)
		r.handoff(task, "ann", time.Minute, time.Second)
		for i := range r.entries[from:] {
			r.entries[from+i].Stream = ledger.StreamOf(name, "task", task)
		}
		if n > 0 {
			r.agentIs(name, "ann", agent.Removed{})
		}
	}
	points, _ := r.tally(figure.Options{MaxAgents: 10_000}).Points()
	by, all := accepted(points), uint64(0)
	for _, n := range by {
		all += n
	}
	if all != 1500 || by["w0/ann"] != 1 || by["w1499/ann"] != 1 || by["w1/ann"] != 0 || len(by) > 1001 {
		t.Errorf("%d of %d names, the others %d", all, len(by), by[figure.OtherWorkspaces+"/"+figure.Other])
	}
	for i := range points {
		if p := &points[i]; p.Instrument == figure.AuditCoverage && p.Value != 1 {
			t.Errorf("%+v", p)
		}
	}
}

func TestWhoReadsTheFiguresGivesNoLabels(t *testing.T) {
	r := newRecord(t)
	for n := range 6 {
		r.agentIs("main", fmt.Sprint("p", n), agent.Registered{Name: fmt.Sprint("p", n)})
	}
	labels := func(tally *figure.Tally) (list []string) {
		for n := range 6 {
			list = append(list, tally.Agent("main", fmt.Sprint("p", n)))
		}
		return list
	}
	live := figure.NewTally(figure.Options{MaxAgents: 3})
	for n := 5; n >= 0; n-- { // a reader asks for them before the record has them
		live.Agent("main", fmt.Sprint("p", n))
	}
	if err := live.Add(r.entries); err != nil {
		t.Fatal(err)
	}
	was, is := labels(live), labels(r.tally(figure.Options{MaxAgents: 3}))
	if want := []string{"p0", "p1", "p2", figure.Other, figure.Other, figure.Other}; !slices.Equal(was, want) || !slices.Equal(is, want) {
		t.Errorf("%v, after a restart %v", was, is)
	}
}

// TestMergedPointsAreInOrder: as one list that is sorted.
func TestMergedPointsAreInOrder(t *testing.T) {
	list := func(instruments ...*figure.Instrument) []figure.Point {
		set := figure.NewSet()
		for n, i := range instruments {
			if i.Type != figure.Histogram {
				set.Add(i, 1, fmt.Sprint("w", n%3))
			}
		}
		return set.Points()
	}
	all := figure.Instruments()
	for cut := range all {
		a, b := list(all[:cut]...), list(all[cut:]...)
		want := append(slices.Clone(a), b...)
		figure.Sort(want)
		if got := figure.Merge(a, b); !reflect.DeepEqual(got, want) {
			t.Fatalf("cut at %d: %v, want %v", cut, got, want)
		}
	}
}
