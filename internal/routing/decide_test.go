package routing_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/routing"
)

const rules = `version: 1
rules:
- {name: money, when: {keywords: [invoice]}, then: {to: {capability: billing}, detail: about money}}
- {name: odd, when: {cel: "task.tags[3] == 'x'"}, then: keep}
- {name: boss, when: {tags: [urgent]}, then: {to: {agent: boss}, kind: delegation}}
- {name: climb, when: {steps_above: 5}, then: {to: {chain: up}}}
- {name: news, when: {tags: [news]}, then: {to: {channel: readers}}}
- {name: people, when: {tags: [person]}, then: {to: {human: front}}}
- {name: stay, when: {tags: [stay]}, then: keep}
chains:
  up: [{agent: boss}, {capability: billing}, {human: operators}]
fallbacks: {boss: [deputy]}
`

func policyOf(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, problems := policy.Parse("p.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems.Err())
	}
	return p
}

func decide(t testing.TB, q routing.Question) event.Decision {
	t.Helper()
	q.Now = noon
	d, err := routing.Decide(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// told is who was weighed, in short.
func told(d event.Decision) string {
	var b strings.Builder
	for _, w := range d.Weighed {
		sign := map[bool]string{true: "+", false: "-"}[w.Fit]
		fmt.Fprintf(&b, "%s%s%s %s; ", sign, w.Agent, w.Desk, w.Tier)
	}
	return b.String()
}

func TestADecisionNamesItsRuleAndEverybodyWhoWasWeighed(t *testing.T) {
	p := policyOf(t, rules)
	directory := snapshotOf(
		agentOf("anna", can("billing"), holds(3, 4)), agentOf("bert", can("billing")), agentOf("cleo", can("billing"), says(agent.Busy)),
		agentOf("router", can("billing")), agentOf("boss", openedAt(noon)), agentOf("deputy"),
	)
	for _, c := range []struct {
		name, tags string
		steps      int
		want       event.Decision
		told       string
	}{
		{"pay the invoice", "", 0, event.Decision{
			Rule: "money", Why: []string{"keyword invoice"}, To: event.Receiver{Capability: "billing"}, Kind: event.Warm,
			Reason: event.ReasonSpecialization, Detail: "about money",
		}, "+bert target; +anna target; -cleo target; -router target; "},
		{"x", "urgent", 0, event.Decision{
			Rule: "boss", Why: []string{"tag urgent"}, To: event.Receiver{Agent: "boss"}, Kind: event.Delegation,
			Reason: event.ReasonSpecialization, Detail: "rule boss",
		}, "-boss target; +deputy fallback; "},
		{"x", "", 6, event.Decision{
			Rule: "climb", Why: []string{"6 steps"}, To: event.Receiver{Chain: "up"}, Kind: event.Warm, Reason: event.ReasonEscalation, Detail: "rule climb",
		}, "-boss target; +deputy target; +bert escalation; +anna escalation; -cleo escalation; -router escalation; +operators escalation; "},
		{"x", "news", 0, event.Decision{
			Rule: "news", Why: []string{"tag news"}, To: event.Receiver{Channel: "readers"}, Kind: event.Broadcast,
			Reason: event.ReasonSpecialization, Detail: "rule news",
		}, ""},
		{"x", "person", 0, event.Decision{
			Rule: "people", Why: []string{"tag person"}, To: event.Receiver{Desk: "front"}, Kind: event.Warm, Reason: event.ReasonEscalation, Detail: "rule people",
		}, "+front target; "},
	} {
		s := policy.Situation{Task: policy.TaskView{Intent: c.name, Tags: strings.Fields(c.tags), Steps: c.steps}}
		d := decide(t, routing.Question{Policy: p, Situation: &s, Directory: directory, Exclude: []string{"router"}})
		if told(d) != c.told {
			t.Errorf("%s: weighed %s\nwant %s", c.want.Rule, told(d), c.told)
		}
		if c.want.Rule != "money" && (len(d.Broken) != 1 || !strings.HasPrefix(d.Broken[0], "odd: its expression could not be evaluated")) {
			t.Errorf("%s: broken %v", c.want.Rule, d.Broken)
		}
		c.want.Policy, c.want.Action, c.want.Weighed, c.want.Broken = p.Digest(), event.ActionHandOff, d.Weighed, d.Broken
		if !reflect.DeepEqual(d, c.want) {
			t.Errorf("got  %+v\nwant %+v", d, c.want)
		}
	}
}

func TestATaskStaysWhereARuleKeepsItOrNobodyDecides(t *testing.T) {
	p := policyOf(t, rules)
	for _, c := range []struct {
		policy *policy.Policy
		tags   []string
		rule   string
		why    []string
	}{
		{p, []string{"stay"}, "stay", []string{"tag stay"}},
		{p, nil, "", []string{"no rule matches", "no adviser is configured"}},
		{nil, nil, "", []string{"no policy is in force", "no adviser is configured"}},
	} {
		s := policy.Situation{Task: policy.TaskView{Intent: "x", Tags: c.tags}}
		d := decide(t, routing.Question{Policy: c.policy, Situation: &s, Directory: snapshotOf(agentOf("anna"))})
		if d.Action != event.ActionKeep || d.Rule != c.rule || !slices.Equal(d.Why, c.why) || d.To != (event.Receiver{}) {
			t.Errorf("%+v", d)
		}
	}
}

// adviser says what it was told to.
type adviser struct {
	says    routing.Advice
	err     error
	offered []routing.Choice
}

func (a *adviser) Advise(_ context.Context, _ string, _ *policy.Situation, choices []routing.Choice) (routing.Advice, error) {
	a.offered = choices
	return a.says, a.err
}

func TestAnAdviserIsAskedWhereNoRuleMatchesAndBoundToItsChoices(t *testing.T) {
	directory := snapshotOf(agentOf("anna", can("docs", "go")), agentOf("bert", says(agent.Offline), can("sql")), agentOf("holder", can("law")))
	s := policy.Situation{Task: policy.TaskView{Intent: "x"}}
	for _, c := range []struct {
		a     adviser
		short string
	}{
		{adviser{says: routing.Advice{HandOff: true, Agent: "anna", Why: "she can"}}, "handoff advice anna | no rule matches; adviser: she can"},
		{adviser{says: routing.Advice{HandOff: true, Capability: "go", Why: "go"}}, "handoff advice go | no rule matches; adviser: go"},
		{adviser{says: routing.Advice{Why: "wait"}}, "keep advice  | no rule matches; adviser: wait"},
		{adviser{says: routing.Advice{HandOff: true, Agent: "bert"}}, `keep   | no rule matches; the advice was not among the choices: "bert"`},
		{adviser{says: routing.Advice{HandOff: true, Agent: "holder"}}, `keep   | no rule matches; the advice was not among the choices: "holder"`},
		{adviser{says: routing.Advice{HandOff: true, Agent: "anna", Capability: "law"}}, `keep   | no rule matches; the advice was not among the choices: "annalaw"`},
		{adviser{says: routing.Advice{HandOff: true}}, `keep   | no rule matches; the advice was not among the choices: ""`},
		{adviser{err: errors.New("it is slow")}, "keep   | no rule matches; there is no advice: it is slow"},
	} {
		d := decide(t, routing.Question{Policy: policyOf(t, rules), Situation: &s, Directory: directory, Exclude: []string{"holder"}, Adviser: &c.a})
		if got := fmt.Sprintf("%s %s %s%s | %s", d.Action, d.Rule, d.To.Agent, d.To.Capability, strings.Join(d.Why, "; ")); got != c.short {
			t.Errorf("got  %s\nwant %s", got, c.short)
		}
		if want := []routing.Choice{{Agent: "anna"}, {Capability: "docs"}, {Capability: "go"}}; !reflect.DeepEqual(c.a.offered, want) {
			t.Errorf("offered %+v", c.a.offered)
		}
	}
	a := adviser{}
	s.Task.Tags = []string{"stay"}
	if decide(t, routing.Question{Policy: policyOf(t, rules), Situation: &s, Directory: directory, Adviser: &a}); a.offered != nil {
		t.Error("it was asked although a rule matches")
	}
}

func TestADecisionEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := routing.Decide(ctx, routing.Question{Policy: policyOf(t, rules), Situation: &policy.Situation{}, Directory: snapshotOf()}); err == nil {
		t.Error("it goes on")
	}
}

func hints(cost int64, latency time.Duration) func(*routing.Hint) {
	return func(h *routing.Hint) { h.Agent.Spec.Estimates = agent.Estimates{Cost: cost, Latency: latency} }
}

func TestRankingIsByFitThenLoadThenFailuresThenHints(t *testing.T) {
	directory := snapshotOf(
		agentOf("generalist", can("go"), hints(1, time.Second)),
		agentOf("expert", can("go", "sql"), holds(1, 10), failures(2)),
		agentOf("cheap", can("go"), hints(5, time.Hour)),
		agentOf("quick", can("go"), hints(5, time.Minute)),
		agentOf("shaky", can("go"), failures(1), hints(1, time.Second)),
		agentOf("silent", can("go")),
		agentOf("busier", can("go"), holds(2, 10), hints(1, time.Second)),
	)
	plan, err := routing.Route(routing.Request{Needs: []string{"go"}, Likes: []string{"sql", "law"}}, directory, noon)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, c := range plan.Considered {
		order = append(order, c.Agent)
	}
	if want := []string{"expert", "generalist", "quick", "cheap", "silent", "shaky", "busier"}; !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
	if got := plan.Considered[0].Why; got != "ready, holds 1 of 10 tasks, knows sql, 2 failures in a row" {
		t.Error(got)
	}
	if got := plan.Considered[2].Why; got != "ready, holds 0 tasks, costs about 5 millionths, takes about 1m" {
		t.Error(got)
	}
}

// large is a directory of many agents, indexed by name.
type large struct {
	list   []routing.Hint
	byName map[string]int
}

func (c *large) Lookup(name string) (routing.Hint, bool) {
	i, ok := c.byName[name]
	if !ok {
		return routing.Hint{}, false
	}
	return c.list[i], true
}

func (c *large) All() iter.Seq[*routing.Hint] {
	return func(yield func(*routing.Hint) bool) {
		for i := range c.list {
			if !yield(&c.list[i]) {
				return
			}
		}
	}
}

func (c *large) Having(string) iter.Seq[*routing.Hint] { return c.All() }

// BenchmarkDecide decides among 10,000 agents, all of whom have the capability, by the last of 200 rules, each of which has
// a keyword, a phrase and an expression.
func BenchmarkDecide(b *testing.B) {
	var text strings.Builder
	text.WriteString("version: 1\nrules:\n")
	for i := range 199 {
		fmt.Fprintf(&text, "- name: r%d\n  when: {keywords: [word%d, \"a phrase%d\"], cel: 'task.steps > %d && task.tags.exists(t, t == \"t%d\")'}\n  then: keep\n", i, i%3, i, i, i)
	}
	text.WriteString("- {name: last, then: {to: {capability: go}}}\n")
	p := policyOf(b, text.String())
	directory := &large{byName: map[string]int{}}
	for i := range 10_000 {
		h := agentOf(fmt.Sprintf("agent-%05d", (i*7919)%10_000), can("docs", "go", "sql"), holds(i%5, 4), failures(i%3), hints(int64(i%7), 0))
		directory.byName[h.Agent.Name] = i
		directory.list = append(directory.list, h)
	}
	s := policy.Situation{Task: policy.TaskView{ID: "t1", Intent: strings.Repeat("a word0 of word1 and word2 ", 40), Tags: []string{"sql", "urgent"}, Steps: 1000}}
	took := make([]time.Duration, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		d := decide(b, routing.Question{Policy: p, Situation: &s, Directory: directory, Exclude: []string{"agent-00042"}})
		took = append(took, time.Since(began))
		if d.Rule != "last" || len(d.Weighed) != event.MaxWeighed {
			b.Fatal(d)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
