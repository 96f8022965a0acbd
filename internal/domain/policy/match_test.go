package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

func task(intent string, change ...func(*policy.Situation)) policy.Situation {
	s := policy.Situation{Task: policy.TaskView{Intent: intent}}
	for _, c := range change {
		c(&s)
	}
	return s
}

func heldBy(name string) func(*policy.Situation) {
	return func(s *policy.Situation) { s.Agent.Name = name }
}

func sure(c float64) func(*policy.Situation) {
	return func(s *policy.Situation) { s.Envelope.Confidence = &c }
}

func match(t testing.TB, p *policy.Policy, s policy.Situation) policy.Match {
	t.Helper()
	m, err := p.Match(t.Context(), &s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTheFirstRuleWhoseConditionsAllHoldDecides(t *testing.T) {
	p := parsed(t, desk)
	for _, c := range []struct {
		name string
		of   policy.Situation
		rule string
		why  string
	}{
		{"a keyword, from the right agent", task("Please pay this INVOICE.", heldBy("router")), "billing", "held by router, keyword invoice"},
		{"a phrase over lines", task("I want my money\n  back!", heldBy("router")), "billing", "held by router, keyword money back"},
		{"in the ask", task("x", heldBy("router"), func(s *policy.Situation) { s.Envelope.Ask = "find the invoice" }), "billing", "held by router, keyword invoice"},
		{"a keyword, from another agent", task("pay this invoice", heldBy("anna")), "rest", "it has no conditions"},
		{"a part of a word", task("invoices and invoicing, money backwards", heldBy("router")), "rest", "it has no conditions"},
		{"a phrase across intent and ask", task("money", heldBy("router"), func(s *policy.Situation) { s.Envelope.Ask = "back" }), "rest", "it has no conditions"},
		{"unsure after some steps", task("x", sure(0.39), func(s *policy.Situation) { s.Task.Steps = 3 }), "unsure", "3 steps, confidence 0.39"},
		{"as unsure as allowed", task("x", sure(0.4), func(s *policy.Situation) { s.Task.Steps = 3 }), "rest", "it has no conditions"},
		{"unsure at once", task("x", sure(0.1), func(s *policy.Situation) { s.Task.Steps = 2 }), "rest", "it has no conditions"},
		{"nobody said how sure", task("x", func(s *policy.Situation) { s.Task.Steps = 9 }), "rest", "it has no conditions"},
		{"an expression", task("x", func(s *policy.Situation) {
			s.Task.Tags, s.Task.Priority, s.Envelope.OpenQuestions = []string{"vip"}, event.Urgent, []string{"when?"}
		}), "vip", "tag vip, its expression is true"},
		{"a false expression", task("x", func(s *policy.Situation) { s.Task.Tags, s.Task.Priority = []string{"vip"}, event.Urgent }), "rest", "it has no conditions"},
		{"tokens and time", task("x", func(s *policy.Situation) { s.Task.Tokens, s.Task.Elapsed = 1001, event.Duration(91*time.Minute) }), "costly", "1001 tokens spent, 1h31m since it was created"},
		{"tokens without time", task("x", func(s *policy.Situation) { s.Task.Tokens, s.Task.Elapsed = 1001, event.Duration(90*time.Minute) }), "rest", "it has no conditions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := match(t, p, c.of)
			if m.Rule == nil || m.Rule.Name != c.rule || strings.Join(m.Why, ", ") != c.why {
				t.Fatalf("%+v", m)
			}
			if at := slices.IndexFunc(p.Rules, func(r policy.Rule) bool { return r.Name == c.rule }); len(m.Passed) != at {
				t.Errorf("passed over %v", m.Passed)
			}
		})
	}
}

func TestWithoutARuleThatMatchesNobodyDecides(t *testing.T) {
	p := parsed(t, rule("name: a, when: {tags: [x]}, then: keep"))
	m := match(t, p, task("x"))
	if m.Rule != nil || !slices.Equal(m.Passed, []policy.Passed{{Rule: "a", Why: "none of its tags"}}) {
		t.Errorf("%+v", m)
	}
	var none *policy.Policy
	if m := match(t, none, task("x")); m.Rule != nil {
		t.Errorf("%+v", m)
	}
}

func TestWordsWithSignsAndOfOtherScriptsAreWords(t *testing.T) {
	for keyword, text := range map[string]string{
		"C++": "a bug in c++ code", "c#": "C#, please", "Rückgabe": "eine RÜCKGABE", "请求": "请求 退款", "e-mail": "my E-Mail address", "404": "error 404!",
	} {
		p := parsed(t, rule(fmt.Sprintf("name: a, when: {keywords: [%q]}, then: keep", keyword)))
		if m := match(t, p, task(text)); m.Rule == nil {
			t.Errorf("%q is not found in %q", keyword, text)
		}
	}
}

func TestEveryVariableCanBeSpokenOf(t *testing.T) {
	half := 0.5
	s := policy.Situation{
		Task: policy.TaskView{
			ID: "t1", Intent: "i", Tags: []string{"a"}, Priority: event.High, State: event.Executing, Requester: "agent/r", Parent: "t0",
			Steps: 1, Hops: 2, Handoffs: 3, Escalations: 4, Tokens: 5, Cost: 6, Budget: event.Budget{Tokens: 7, Cost: 8},
			Elapsed: event.Duration(time.Minute), Progress: "p", Permissions: []string{"w"},
		},
		Agent: policy.AgentView{
			Name: "n", Kind: "agent", Capabilities: []string{"c"}, Readiness: "ready", Held: 1, MaxTasks: 2, Failures: 3, ContextWindow: 4,
		},
		Envelope: policy.EnvelopeView{
			State: "s", Ask: "q", Summary: "u", Facts: []string{"f"}, Decisions: []string{"d"}, OpenQuestions: []string{"o"},
			Confidence: &half, Data: json.RawMessage(`{"who":{"age":41},"list":[1,2]}`),
		},
	}
	said := map[string]string{
		"task.id": `== 't1'`, "task.intent": `== 'i'`, "task.tags": `== ['a']`, "task.priority": `== 'high'`, "task.state": `== 'executing'`,
		"task.requester": `.startsWith('agent/')`, "task.parent": `== 't0'`, "task.steps": `== 1`, "task.hops": `== 2`, "task.handoffs": `== 3`,
		"task.escalations": `== 4`, "task.tokens": `== 5`, "task.cost_micros": `== 6`, "task.budget_tokens": `== 7`, "task.budget_cost_micros": `== 8`,
		"task.elapsed": `== duration('60s')`, "task.progress": `== 'p'`, "task.permissions": `.exists(p, p == 'w')`,
		"agent.name": `== 'n'`, "agent.kind": `== 'agent'`, "agent.capabilities": `== ['c']`, "agent.readiness": `== 'ready'`, "agent.held": `== 1`,
		"agent.max_tasks": `== 2`, "agent.failures": `== 3`, "agent.context_window": `== 4`,
		"envelope.state": `== 's'`, "envelope.ask": `== 'q'`, "envelope.summary": `== 'u'`, "envelope.facts": `== ['f']`, "envelope.decisions": `== ['d']`,
		"envelope.open_questions": `== ['o']`, "envelope.confidence": `== 0.5`, "envelope.data": `.who.age > 40.0`,
	}
	for _, v := range policy.Variables() {
		p := parsed(t, rule(fmt.Sprintf("name: a, when: {cel: %q}, then: keep", v.Name+" "+said[v.Name])))
		if m := match(t, p, s); said[v.Name] == "" || m.Rule == nil || v.Doc == "" || v.Type == "" {
			t.Errorf("%s (%s): %+v", v.Name, v.Type, m)
		}
	}
	if len(said) != len(policy.Variables()) {
		t.Errorf("%d of %d", len(said), len(policy.Variables()))
	}
	p := parsed(t, rule("name: a, when: {cel: envelope.confidence < 0.0 && !has(envelope.data.who)}, then: keep"))
	if m := match(t, p, task("x")); m.Rule == nil {
		t.Errorf("where nothing is said: %+v", m)
	}
}

// dear costs more than an expression may, on a task with many tags.
const dear = "task.tags.all(a, task.tags.all(b, task.tags.all(c, task.tags.all(d, a + b + c + d != 'x'))))"

func manyTags(s *policy.Situation) {
	for i := range event.MaxTags {
		s.Task.Tags = append(s.Task.Tags, fmt.Sprint("tag", i))
	}
}

func TestAnExpressionThatCannotBeEvaluatedDoesNotMatchAndIsNamed(t *testing.T) {
	for expression, want := range map[string]string{
		"task.tags[7] == 'x'":      "index out of bounds",
		"1 / task.hops > 0":        "division by zero",
		"envelope.data.missing":    "no such key",
		"envelope.data":            "neither true nor false",
		"task.intent.matches('(')": "error parsing regexp",
		dear:                       "cost",
	} {
		p, problems := policy.Parse("p.yaml", []byte(fmt.Sprintf("version: 1\nrules:\n- {name: a, when: {cel: %q}, then: keep}\n- {name: b, then: keep}\n", expression)))
		if len(problems) > 0 { // what the compiler sees needs no evaluation
			if !strings.Contains(problems.Err().Error(), want) {
				t.Errorf("%s: %v", expression, problems)
			}
			continue
		}
		m := match(t, p, task("x", manyTags, func(s *policy.Situation) { s.Task.Tags = s.Task.Tags[:min(7+25*strings.Count(expression, "all"), 32)] }))
		if m.Rule == nil || m.Rule.Name != "b" || len(m.Broken) != 1 || !strings.Contains(m.Broken[0].Why, want) {
			t.Errorf("%s: %+v", expression, m)
		}
	}
}

func TestAllExpressionsTogetherAreBoundedToo(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\nrules:\n")
	for i := range policy.MaxRules {
		fmt.Fprintf(&b, "- {name: r%d, when: {cel: %q}, then: keep}\n", i, dear)
	}
	m := match(t, parsed(t, b.String()), task("x", manyTags))
	last := m.Broken[len(m.Broken)-1]
	if len(m.Broken) != policy.MaxRules || !strings.Contains(last.Why, "before it cost more than") {
		t.Errorf("%d broken, the last: %s", len(m.Broken), last.Why)
	}
}

func TestMatchingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := task("x")
	if m, err := parsed(t, desk).Match(ctx, &s); err == nil || m.Rule != nil {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestASampleIsReadFromYAMLAndJSONAlike(t *testing.T) {
	s := policy.Situation{
		Task:     policy.TaskView{Intent: "pay", Tags: []string{"vip"}, Priority: event.High, Tokens: 5, Elapsed: event.Duration(time.Hour)},
		Agent:    policy.AgentView{Name: "router"},
		Envelope: policy.EnvelopeView{Data: json.RawMessage(`{"a":[1,true,null]}`)},
	}
	j, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		string(j),
		"task: {intent: pay, tags: [vip], priority: high, tokens: 5, elapsed: 1h}\nagent: {name: router}\nenvelope:\n  data: {a: [1, true, null]}\n",
	} {
		got, problems := policy.ReadSituation("s.yaml", []byte(text))
		if len(problems) > 0 || !reflect.DeepEqual(got, s) {
			t.Errorf("%s\nis %+v, %v", text, got, problems)
		}
	}
	for text, want := range map[string]string{
		"task: {intent: x, mood: y}":       "s.yaml:1:19: task.mood: there is no field",
		"task: {priority: soon}":           `"soon" is not a priority`,
		"envelope: {data: {1: 2}}":         "cannot be written as JSON",
		"envelope: {data: {a: .inf}}":      "cannot be written as JSON",
		"envelope: {data: &x {a: *x}}":     "cannot be written as JSON",
		"envelope: {confidence: perhaps}":  `"perhaps" is not a number`,
		"task: {tags: vip}":                "here must be a list",
		"[]":                               "here must be a mapping",
		"task: {tokens: 1.5}":              "is not a whole number",
		"envelope: {confidence: }":         "not nothing",
		"task: {elapsed: [1h]}":            "here must be a text, not a list",
		strings.Repeat("[", 9000) + "\xff": "not valid UTF-8",
	} {
		if got, problems := policy.ReadSituation("s.yaml", []byte(text)); len(problems) == 0 || !strings.Contains(problems[0].String(), want) {
			t.Errorf("%.40s is %+v, %v", text, got, problems)
		}
	}
}

// A task without a list of permissions may do everything; one with an empty list, nothing.
func TestASampleKeepsNoPermissionsApartFromThoseThatAreNotRestricted(t *testing.T) {
	for _, permissions := range [][]string{nil, {}, {"write"}} {
		s := policy.Situation{Task: policy.TaskView{Intent: "pay", Permissions: permissions}}
		j, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		got, problems := policy.ReadSituation("s.yaml", j)
		if len(problems) > 0 || !reflect.DeepEqual(got, s) {
			t.Errorf("%s\nis %#v, %v", j, got.Task.Permissions, problems)
		}
	}
}

func TestEachNewTextComesIntoForceOnceAndABadOneNever(t *testing.T) {
	var s policy.State
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	adopt := func(text string) ([]policy.Event, error) {
		return policy.Decide(s, policy.Adopt{By: "operator/olga", File: "p.yaml", Text: text}, noon)
	}
	other := rule("name: a, then: keep")
	for i, text := range []string{desk, other, desk} {
		events, err := adopt(text)
		if err != nil || len(events) != 1 {
			t.Fatal(events, err)
		}
		s = policy.Fold(s, events[0])
		if s.Version != i+1 || s.Text != text || s.Digest != policy.DigestOf([]byte(text)) || s.By != "operator/olga" || !s.At.Equal(noon) || !s.Exists() {
			t.Fatalf("%+v", s)
		}
		if events, err := adopt(text); len(events) != 0 || err != nil {
			t.Errorf("the same again: %v, %v", events, err)
		}
		before := s
		if events, err := adopt("rules: []"); len(events) != 0 || refusal.CodeOf(err) != refusal.Invalid || s != before {
			t.Errorf("a bad one: %v, %v", events, err)
		}
	}
	if _, err := policy.Decide(s, policy.Adopt{Text: other}, noon); refusal.CodeOf(err) != refusal.Unauthenticated {
		t.Error(err)
	}
}

func TestTheJSONOfEventsIsFrozen(t *testing.T) {
	e := policy.Adopted{Digest: "sha256:00", Text: "version: 1 # <&>\n", By: "operator/olga", At: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)}
	codec := ledger.NewCodec(policy.Events...)
	coded, err := codec.EncodeAll([]policy.Event{e})
	if err != nil || len(policy.Events) != 1 {
		t.Fatal(err)
	}
	const frozen = `policy-adopted 1 {"digest":"sha256:00","text":"version: 1 # <&>\n","by":"operator/olga","at":"2026-01-02T12:00:00Z"}`
	if got := fmt.Sprintf("%s %d %s", coded[0].Name, coded[0].Version, coded[0].Data); got != frozen {
		t.Errorf("events are not written as they were: %s", got)
	}
	if back, err := codec.Decode(coded[0]); err != nil || back != e {
		t.Errorf("it comes back as %+v, %v", back, err)
	}
}

func BenchmarkMatch200Rules(b *testing.B) {
	var t strings.Builder
	t.WriteString("version: 1\nrules:\n")
	for i := range 200 {
		fmt.Fprintf(&t, "- name: r%d\n  when: {keywords: [word%d, \"two words%d\"], cel: 'task.steps > %d && task.tags.exists(t, t == \"t%d\")'}\n  then: keep\n", i, i%3, i, i, i)
	}
	p := parsed(b, t.String())
	s := task(strings.Repeat("some word0 word1 word2 ", 200), func(s *policy.Situation) { s.Task.Tags, s.Task.Steps = []string{"a", "b"}, 500 })
	b.ReportAllocs()
	for b.Loop() {
		if m := match(b, p, s); len(m.Passed) != 200 {
			b.Fatal(m)
		}
	}
}
