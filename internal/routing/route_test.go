package routing_test

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/ruletest"
	"github.com/trapezehq/trapeze/internal/routing"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// agent is a hint about a ready agent, changed by options.
func agentOf(name string, options ...func(*routing.Hint)) routing.Hint {
	h := routing.Hint{}
	for _, o := range options {
		o(&h)
	}
	commands := []agent.Command{agent.Register{Name: name, Spec: h.Agent.Spec}}
	if h.Agent.Said != "" {
		commands = append(commands, agent.SetReadiness{Name: name, Readiness: h.Agent.Said, By: identity.Principal{Role: identity.Agent, Name: name}})
	}
	for i := range h.Agent.Circuit.Failures {
		commands = append(commands, agent.ReportOutcome{Name: name, Cause: uint64(i + 1), Outcome: agent.LeaseLost})
	}
	opened := h.Agent.Circuit.OpenedAt
	if opened.IsZero() {
		opened = noon
	}
	removed, probe := h.Agent.Removed, h.Agent.Circuit.Probe
	h.Agent = agent.State{}
	if removed {
		commands = append(commands, agent.Remove{Name: name})
	}
	decide := func(c agent.Command, at time.Time) {
		events, err := agent.Decide(h.Agent, c, at)
		if err != nil {
			panic(err)
		}
		for _, e := range events {
			h.Agent = agent.Fold(h.Agent, e)
		}
	}
	for _, c := range commands {
		decide(c, opened)
	}
	if probe != "" {
		decide(agent.ClaimProbe{Name: name, Handoff: probe}, noon)
	}
	return h
}

type option = func(*routing.Hint)

func can(capabilities ...string) option {
	return func(h *routing.Hint) { h.Agent.Spec.Capabilities = capabilities }
}

func fallbacks(names ...string) option {
	return func(h *routing.Hint) { h.Agent.Spec.Fallbacks = names }
}

func escalation(names ...string) option {
	return func(h *routing.Hint) { h.Agent.Spec.Escalation = names }
}

func holds(held, most int) option {
	return func(h *routing.Hint) { h.Held, h.Agent.Spec.MaxTasks = held, most }
}
func says(r agent.Readiness) option { return func(h *routing.Hint) { h.Agent.Said = r } }
func failures(n int) option         { return func(h *routing.Hint) { h.Agent.Circuit.Failures = n } }
func removed(h *routing.Hint)       { h.Agent.Removed = true }

func openedAt(at time.Time) option {
	return func(h *routing.Hint) { h.Agent.Circuit.Failures, h.Agent.Circuit.OpenedAt = 3, at }
}

// probing is a half-open circuit whose probe a handoff has.
func probing(handoff string) option {
	return func(h *routing.Hint) {
		openedAt(noon.Add(-time.Minute))(h)
		h.Agent.Circuit.Probe = handoff
	}
}

// story is a plan on one line per agent: "+ name tier reason" for the eligible, "- …" for those passed over.
func story(p routing.Plan) string {
	var lines []string
	for _, c := range p.Considered {
		sign := "-"
		if c.Eligible {
			sign = "+"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s", sign, c.Agent, c.Tier, c.Reason))
	}
	return strings.Join(lines, "\n")
}

func to(names ...string) routing.Request { return routing.Request{Agents: names} }

// stories are the rules of routing by example; each ends in a plan, as story tells it.
var stories = []struct {
	name   string
	req    routing.Request
	agents []routing.Hint
	want   string
}{
	{
		"a ready agent is all it takes", to("writer"),
		[]routing.Hint{agentOf("writer"), agentOf("editor")},
		"+ writer target fit",
	},
	{
		"fallbacks stand by, and the fallbacks of fallbacks after them", to("writer"),
		[]routing.Hint{
			agentOf("writer", fallbacks("editor", "intern")), agentOf("editor", fallbacks("chief")),
			agentOf("intern"), agentOf("chief"),
		},
		"+ writer target fit\n+ editor fallback fit\n+ intern fallback fit\n+ chief fallback fit",
	},
	{
		"a circle of fallbacks ends", to("writer"),
		[]routing.Hint{agentOf("writer", fallbacks("editor")), agentOf("editor", fallbacks("writer", "chief")), agentOf("chief", fallbacks("editor"))},
		"+ writer target fit\n+ editor fallback fit\n+ chief fallback fit",
	},
	{
		"a full agent is passed over", to("writer"),
		[]routing.Hint{agentOf("writer", holds(2, 2), fallbacks("editor")), agentOf("editor", holds(1, 2))},
		"- writer target full\n+ editor fallback fit",
	},
	{
		"an agent without a limit is never full", to("writer"),
		[]routing.Hint{agentOf("writer", holds(1000, 0))},
		"+ writer target fit",
	},
	{
		"an open circuit is gone around", to("writer"),
		[]routing.Hint{agentOf("writer", openedAt(noon), fallbacks("editor")), agentOf("editor")},
		"- writer target circuit_open\n+ editor fallback fit",
	},
	{
		"a half-open circuit lets a probe through", to("writer"),
		[]routing.Hint{agentOf("writer", openedAt(noon.Add(-time.Minute)))},
		"+ writer target probe",
	},
	{
		"a probe is its handoff's to use, also when that has to be decided again",
		routing.Request{Agents: []string{"writer", "editor"}, Own: []string{"mine"}},
		[]routing.Hint{agentOf("writer", probing("mine")), agentOf("editor", probing("another's"))},
		"+ writer target probe\n- editor target circuit_open",
	},
	{
		"targets and fallbacks need the capability",
		routing.Request{Agents: []string{"writer"}, Needs: []string{"go"}},
		[]routing.Hint{agentOf("writer", can("docs"), fallbacks("editor", "boss")), agentOf("editor", can("docs", "go")), agentOf("boss")},
		"- writer target lacks_capability\n+ editor fallback fit\n- boss fallback lacks_capability",
	},
	{
		"who is left out is not offered anything in any tier",
		routing.Request{Agents: []string{"writer"}, Exclude: []string{"editor", "boss"}},
		[]routing.Hint{agentOf("writer", fallbacks("editor", "boss")), agentOf("editor"), agentOf("boss")},
		"+ writer target fit\n- editor fallback excluded\n- boss fallback excluded",
	},
	{
		"a fallback that is gone or never was is passed over", to("writer"),
		[]routing.Hint{agentOf("writer", fallbacks("gone", "never")), agentOf("gone", removed)},
		"+ writer target fit\n- gone fallback not_registered\n- never fallback not_registered",
	},
	{
		"a list keeps its order, without repeats", to("writer", "editor", "writer"),
		[]routing.Hint{agentOf("editor", fallbacks("writer", "chief")), agentOf("writer", says(agent.Busy)), agentOf("chief")},
		"- writer target not_ready\n+ editor target fit\n+ chief fallback fit",
	},
	{
		"a capability finds the least loaded first; more capacity is less load",
		routing.Request{Needs: []string{"go"}},
		[]routing.Hint{
			agentOf("a", can("go"), holds(1, 2)), agentOf("b", can("go"), holds(1, 4)), agentOf("c", can("docs")),
			agentOf("d", can("go"), holds(0, 0)), agentOf("e", can("go"), holds(4, 0)),
		},
		"+ d target fit\n+ b target fit\n+ e target fit\n+ a target fit",
	},
	{
		"load counts, then failures, then names",
		routing.Request{Needs: []string{"go"}},
		[]routing.Hint{
			agentOf("e", can("go")), agentOf("d", can("go")), agentOf("c", can("go"), failures(1)),
			agentOf("b", can("go", "sql"), holds(1, 2)), agentOf("a", can("docs", "go", "sql"), holds(3, 4)),
		},
		"+ d target fit\n+ e target fit\n+ c target fit\n+ b target fit\n+ a target fit",
	},
	{
		"those on probation and those passed over come last, but are told",
		routing.Request{Needs: []string{"go"}},
		[]routing.Hint{
			agentOf("a", can("go"), says(agent.Offline)), agentOf("b", can("go"), openedAt(noon.Add(-time.Hour))),
			agentOf("c", can("go"), holds(9, 10)), agentOf("d", can("go"), removed),
		},
		"+ c target fit\n+ b target probe\n- a target away",
	},
	{
		"nobody goes up a chain here: who is above an agent is no target and no fallback", to("writer"),
		[]routing.Hint{agentOf("writer", fallbacks("editor"), escalation("boss")), agentOf("editor"), agentOf("boss")},
		"+ writer target fit\n+ editor fallback fit",
	},
}

func TestRoutesAsStories(t *testing.T) {
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			plan, err := routing.Route(s.req, snapshotOf(s.agents...), noon)
			if err != nil {
				t.Fatal(err)
			}
			if got := story(plan); got != s.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, s.want)
			}
		})
	}
}

func refused(t *testing.T, req routing.Request, code refusal.Code, agents ...routing.Hint) (routing.Plan, *refusal.Error) {
	t.Helper()
	plan, err := routing.Route(req, snapshotOf(agents...), noon)
	return plan, ruletest.Refused(t, err, code)
}

func TestAnUnknownTargetIsRefusedWithTheClosestNames(t *testing.T) {
	var agents []routing.Hint
	for i := range 20 {
		agents = append(agents, agentOf(fmt.Sprintf("zzzzzzzzzzzz-%02d", i)))
	}
	agents = append(agents, agentOf("writer"), agentOf("waiter"), agentOf("winter", removed))
	_, r := refused(t, to("wrtier"), refusal.NotFound, agents...)
	got, _ := r.Details["did_you_mean"].([]string)
	if len(got) != 8 || !reflect.DeepEqual(got[:2], []string{"writer", "waiter"}) {
		t.Errorf("suggests %v", got)
	}
	if !strings.HasPrefix(r.Hint, "use one of: writer, waiter, zzz") {
		t.Errorf("hint %q", r.Hint)
	}
	_, r = refused(t, to("winter"), refusal.NotFound, agents...)
	if strings.Contains(r.Hint, "winter") {
		t.Errorf("suggests one that was removed: %q", r.Hint)
	}
	refused(t, to("writer", "nobody"), refusal.NotFound, agents...)
	refused(t, to("writer"), refusal.NotFound)
}

func TestAWordForPeopleIsRefusedWithTheirDesks(t *testing.T) {
	ann := agentOf("ann", can("legal", "billing"))
	ann.Agent.Spec.Kind = agent.KindHuman
	for _, word := range []string{"human", "people", "operator"} {
		if _, r := refused(t, to(word), refusal.NotFound, agentOf("humane"), ann); r.Hint != "to ask people, name their desk: human:operators, human:billing, human:legal" {
			t.Errorf("%s: %s", word, r.Hint)
		}
		if _, r := refused(t, to(word), refusal.NotFound); r.Hint != "to ask people, name their desk: human:operators" {
			t.Errorf("%s, where nobody is registered: %s", word, r.Hint)
		}
	}
}

func TestACapabilityNobodyHasIsRefusedWithThoseThatExist(t *testing.T) {
	agents := []routing.Hint{agentOf("a", can("golang")), agentOf("b", can("docs")), agentOf("c", can("gone"), removed)}
	_, r := refused(t, routing.Request{Needs: []string{"golan"}}, refusal.NotFound, agents...)
	if r.Hint != "use one of: golang, docs" {
		t.Errorf("hint %q", r.Hint)
	}
	refused(t, routing.Request{Needs: []string{"golang", "docs"}}, refusal.NotFound, agents...)
	refused(t, routing.Request{Needs: []string{"go"}}, refusal.NotFound, agentOf("a"))
}

func TestWhenOnlyCircuitsAreInTheWayTheRefusalNamesTheFirstReset(t *testing.T) {
	plan, r := refused(t, to("writer"), refusal.CircuitOpen,
		agentOf("writer", openedAt(noon), fallbacks("editor", "never")),
		agentOf("editor", openedAt(noon.Add(-30*time.Second))))
	if r.Details["reset_at"] != "2026-01-02T12:00:30Z" || !strings.Contains(r.Message, "2026-01-02T12:00:30Z") {
		t.Errorf("refusal %v", r)
	}
	if len(plan.Considered) != 3 || len(eligible(plan)) != 0 {
		t.Errorf("plan %+v", plan)
	}
}

func TestOtherwiseTheRefusalSaysWhyForEachAgent(t *testing.T) {
	_, r := refused(t, routing.Request{Agents: []string{"writer"}, Needs: []string{"go"}, Exclude: []string{"source"}}, refusal.Unavailable,
		agentOf("writer", can("go"), openedAt(noon), fallbacks("editor", "intern", "docs", "never", "source")),
		agentOf("editor", can("go"), says(agent.Draining)), agentOf("intern", can("go"), holds(3, 3)), agentOf("docs"), agentOf("source"))
	for _, want := range []string{
		"writer: circuit open until 2026-01-02T12:01:00Z", "editor: draining", "intern: full, holds 3 of 3 tasks",
		"docs: lacks go", "never: not registered", "source: has the task already",
	} {
		if !strings.Contains(r.Message, want) {
			t.Errorf("%q does not say %q", r.Message, want)
		}
	}
}

func TestALongRefusalIsCutShort(t *testing.T) {
	var agents []routing.Hint
	for i := range 100 {
		agents = append(agents, agentOf(fmt.Sprintf("a%02d", i), can("go"), says(agent.Busy)))
	}
	plan, r := refused(t, routing.Request{Needs: []string{"go"}}, refusal.Unavailable, agents...)
	if !strings.Contains(r.Message, "and 92 more") || len(plan.Considered) != routing.MaxListed || plan.Omitted != 36 {
		t.Errorf("message %q, %d considered, %d omitted", r.Message, len(plan.Considered), plan.Omitted)
	}
}

func TestHandingToOneselfAloneIsUnavailable(t *testing.T) {
	refused(t, routing.Request{Agents: []string{"writer"}, Exclude: []string{"writer"}}, refusal.Unavailable, agentOf("writer"))
}

// asked counts the questions to a directory.
type asked struct {
	snapshot
	times map[string]int
}

func (a asked) Lookup(name string) (routing.Hint, bool) {
	a.times[name]++
	return a.snapshot.Lookup(name)
}

func TestAnAgentIsLookedUpOnceToBeJudgedAndOnceForItsFallbacks(t *testing.T) {
	dir := asked{snapshotOf(agentOf("ann", fallbacks("bob")), agentOf("bob")), map[string]int{}}
	if _, err := routing.Route(routing.Request{Agents: []string{"ann"}}, dir, noon); err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"ann": 2, "bob": 2}; !maps.Equal(dir.times, want) {
		t.Errorf("looked up %v, want %v", dir.times, want)
	}
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	many := make([]string, routing.MaxTargets+1)
	for i := range many {
		many[i] = "writer"
	}
	for name, req := range map[string]routing.Request{
		"no target":         {},
		"bad name":          to("../writer"),
		"empty name":        to(""),
		"too many names":    to(many...),
		"bad capability":    {Needs: []string{"Go"}},
		"bad second need":   {Needs: []string{"go", "\x00"}},
		"too many needs":    {Needs: many[:17]},
		"one bad of a list": to("writer", "a b"),
	} {
		t.Run(name, func(t *testing.T) { refused(t, req, refusal.Invalid, agentOf("writer", can("go"))) })
	}
}

func TestEqualsTakeTurnsBySpread(t *testing.T) {
	var all []routing.Hint
	for i := range 200 {
		all = append(all, agentOf(fmt.Sprintf("a%03d", i), can("go")))
	}
	all = append(all, agentOf("busy", can("go"), holds(1, 2)))
	first := map[string]bool{}
	for i := range 100 {
		req := routing.Request{Needs: []string{"go"}, Spread: fmt.Sprintf("task-%d", i)}
		plan, err := routing.Route(req, snapshotOf(all...), noon)
		if err != nil {
			t.Fatal(err)
		}
		first[plan.Considered[0].Agent] = true
		if len(eligible(plan)) != routing.MaxListed {
			t.Fatalf("%d are eligible", len(eligible(plan)))
		}
		for _, c := range plan.Considered {
			if c.Agent == "busy" {
				t.Fatal("spread goes before load")
			}
		}
	}
	if len(first) < 60 { // of 200, drawn 100 times: 79 are to be expected
		t.Errorf("a hundred handoffs begin with %d agents", len(first))
	}
}

func TestAProbeIsMarked(t *testing.T) {
	h := agentOf("writer", openedAt(noon.Add(-time.Hour)))
	plan, err := routing.Route(to("writer"), snapshotOf(h), noon)
	if err != nil || plan.Considered[0].Reason != routing.FitAsProbe {
		t.Errorf("%+v, %v", plan, err)
	}
}

// TestAnyPlanKeepsItsPromises routes over random sets of agents.
func TestAnyPlanKeepsItsPromises(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f"}
	caps := []string{"go", "docs"}
	rapid.Check(t, func(t *rapid.T) {
		others := func(self, label string) []string {
			list := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID[string]).Draw(t, label)
			var kept []string
			for _, n := range list {
				if n != self {
					kept = append(kept, n)
				}
			}
			return kept
		}
		var hints []routing.Hint
		for _, n := range names[:rapid.IntRange(1, len(names)).Draw(t, "agents")] {
			hints = append(hints, agentOf(n,
				can(rapid.SliceOfN(rapid.SampledFrom(caps), 0, 2).Draw(t, "can")...),
				fallbacks(others(n, "fallbacks")...), escalation(others(n, "escalation")...),
				holds(rapid.IntRange(0, 3).Draw(t, "held"), rapid.IntRange(0, 3).Draw(t, "most")),
				says(rapid.SampledFrom([]agent.Readiness{agent.Ready, agent.Ready, agent.Busy}).Draw(t, "says")),
				failures(rapid.IntRange(0, 3).Draw(t, "failures"))))
		}
		byPolicy := map[string][]string{}
		for _, n := range names {
			byPolicy[n] = others(n, "fallbacks of the policy")
		}
		req := routing.Request{Exclude: others("", "exclude"), Fallbacks: func(agent string) []string { return byPolicy[agent] }}
		if rapid.Bool().Draw(t, "by name") {
			req.Agents = []string{rapid.SampledFrom(names).Draw(t, "target")}
		} else {
			req.Needs = caps[:rapid.IntRange(1, 2).Draw(t, "needs")]
		}
		dir := snapshotOf(hints...)
		plan, err := routing.Route(req, dir, noon)
		again, err2 := routing.Route(req, dir, noon)
		if !reflect.DeepEqual(plan, again) || refusal.CodeOf(err) != refusal.CodeOf(err2) {
			t.Fatalf("two plans for one request: %+v and %+v", plan, again)
		}
		if (len(eligible(plan)) > 0) != (err == nil) {
			t.Fatalf("plan %+v, error %v", plan, err)
		}
		checkEligible(t, req, dir, plan)
	})
}

func checkEligible(t *rapid.T, req routing.Request, dir snapshot, plan routing.Plan) {
	seen := map[string]bool{}
	for _, x := range req.Exclude {
		seen[x] = true
	}
	for _, c := range eligible(plan) {
		h := dir[c.Agent]
		if seen[c.Agent] {
			t.Fatalf("%s is offered twice or left out:\n%s", c.Agent, story(plan))
		}
		seen[c.Agent] = true
		full := h.Agent.Spec.MaxTasks > 0 && h.Held >= h.Agent.Spec.MaxTasks
		if full || h.Agent.Readiness() != agent.Ready || agent.CircuitAt(h.Agent, noon).Phase == agent.Open {
			t.Fatalf("%s is not fit: %+v", c.Agent, h)
		}
		for _, n := range req.Needs {
			if !h.Agent.Spec.Has(n) {
				t.Fatalf("%s lacks %s", c.Agent, n)
			}
		}
	}
}

func BenchmarkRoute(b *testing.B) {
	hints := make(snapshot)
	for i := range 10_000 {
		h := agentOf(fmt.Sprintf("agent-%05d", (i*7919)%10_000), can("docs", "go", "sql"), holds(i%5, 4))
		hints[h.Agent.Name] = h
	}
	for name, req := range map[string]routing.Request{
		"name":       to("agent-00042"),
		"capability": {Needs: []string{"go"}},
		"unknown":    to("agent-x"),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = routing.Route(req, hints, noon)
			}
		})
	}
}
