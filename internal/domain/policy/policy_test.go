package policy_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

const desk = `# The support desk.
version: 1
rules:
  - name: billing
    when: {keywords: [invoice, "money back"], from: [router]}
    then:
      to: {capability: billing}
      detail: a question of money
  - name: unsure
    when: {confidence_below: 0.4, steps_above: 2}
    then: {to: {chain: support}}
  - name: vip
    when:
      tags: [vip]
      cel: task.priority == "urgent" && envelope.open_questions.size() > 0
    then: {to: {human: vip-desk}}
  - name: costly
    when: {tokens_above: 1000, elapsed_above: 1h30m}
    then: {to: {agent: boss}, supervised_by: auditor, pack: {tokens: 500, strategy: priority}}
  - name: rest
    then: keep
chains:
  support:
    - agent: specialist
    - capability: research
    - chain: people
  people: [{agent: lead}, {human: operators}]
escalation:
  agents: {router: support}
  capabilities:
    billing: people
    research: support
  default: people
fallbacks:
  specialist: [writer, editor]
`

func parsed(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, problems := policy.Parse("policy.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems.Err())
	}
	return p
}

func TestAPolicyIsReadWithItsDefaults(t *testing.T) {
	p := parsed(t, desk)
	if p.Digest() != policy.DigestOf([]byte(desk)) || !strings.HasPrefix(p.Digest(), "sha256:") || len(p.Rules) != 5 {
		t.Fatalf("%s, %d rules", p.Digest(), len(p.Rules))
	}
	for i, want := range []policy.Then{
		{To: policy.Target{Capability: "billing"}, Kind: event.Warm, Reason: event.ReasonSpecialization, Detail: "a question of money"},
		{To: policy.Target{Chain: "support"}, Kind: event.Warm, Reason: event.ReasonEscalation},
		{To: policy.Target{Human: "vip-desk"}, Kind: event.Warm, Reason: event.ReasonEscalation},
		{
			To: policy.Target{Agent: "boss"}, Kind: event.Supervised, Reason: event.ReasonSpecialization, Approver: "auditor",
			Pack: policy.Pack{Tokens: 500, Strategy: "priority"},
		},
		{Keep: true},
	} {
		if got := p.Rules[i].Then; !reflect.DeepEqual(got, want) {
			t.Errorf("rule %d: %+v, want %+v", i, got, want)
		}
	}
}

func TestAnAgentsChainIsItsOwnThenItsCapabilitysThenTheDefaultAndIsNeverUsedUp(t *testing.T) {
	p := parsed(t, desk)
	people := []policy.Level{{Agent: "lead"}, {Human: "operators"}}
	support := append([]policy.Level{{Agent: "specialist"}, {Capability: "research"}}, people...)
	for _, c := range []struct {
		agent  string
		can    []string
		chain  string
		levels []policy.Level
	}{
		{"router", []string{"billing"}, "support", support},
		{"anna", []string{"archive", "billing", "research"}, "people", people},
		{"bert", []string{"research"}, "support", support},
		{"cleo", nil, "people", people},
	} {
		for range 2 {
			name, levels := p.ChainFor(agent.State{Name: c.agent, Spec: agent.Spec{Capabilities: c.can}})
			if name != c.chain || !slices.Equal(levels, c.levels) {
				t.Errorf("%s: chain %s %v, want %s %v", c.agent, name, levels, c.chain, c.levels)
			}
		}
	}
	var none *policy.Policy
	if name, levels := none.ChainFor(agent.State{Name: "anna"}); name != "" || levels != nil || none.FallbacksOf("anna") != nil || none.Chain("x") != nil {
		t.Errorf("no policy has chain %q %v", name, levels)
	}
	if got := p.FallbacksOf("specialist"); !slices.Equal(got, []string{"writer", "editor"}) {
		t.Errorf("fallbacks %v", got)
	}
}

// bad are files that are refused: the text, and the first problem.
var bad = []struct{ name, text, want string }{
	{"empty", "", "p.yaml:1:1: the file is empty"},
	{"only a comment", "# nothing\n", "p.yaml:1:1: the file is empty"},
	{"no YAML", "version: 1\nrules: [", "p.yaml:2:1: this is not YAML"},
	{"a tab", "version: 1\nrules:\n\t- name: a\n", "this is not YAML"},
	{"not UTF-8", "version: 1 # \xff\n", "p.yaml:1:1: the file is not valid UTF-8"},
	{"two documents", "version: 1\n---\nversion: 1\n", "p.yaml:2:1: the file has more than one document"},
	{"a list", "- version: 1\n", "p.yaml:1:1: here must be a mapping, not a list"},
	{"no version", "chains: {}\n", "p.yaml:1:1: version is missing"},
	{"another version", "version: 2\n", "p.yaml:1:10: version: there is no version 2"},
	{"an unknown field", "version: 1\nrule: []\n", `p.yaml:2:1: rule: there is no field "rule" here (use one of version, rules, chains, escalation, fallbacks, llm, embeddings, alerts, retention)`},
	{"an unknown field deep inside", "version: 1\nrules:\n  - name: a\n    when: {keyword: [x]}\n    then: keep\n", `p.yaml:4:12: rules[0].when.keyword: there is no field "keyword" here`},
	{"a field twice", "version: 1\nversion: 1\n", `p.yaml:2:1: version: "version" is there twice`},
	{"an alias", "version: 1\nfallbacks:\n  a: &x [b]\n  c: *x\n", "p.yaml:4:6: fallbacks.c: aliases are not allowed"},
	{"a merge", "version: 1\nescalation:\n  <<: {default: a}\n", "p.yaml:3:3: escalation.<<: there is no field"},
	{"a text for a number", "version: one\n", `p.yaml:1:10: version: "one" is not a whole number`},
	{"a number too large", "version: 99999999999999999999\n", "is not a whole number"},
	{"a mapping for a text", "version: 1\nrules: [{name: {}, then: keep}]\n", "p.yaml:2:16: rules[0].name: here must be a text, not a mapping"},
	{"nothing for a text", "version: 1\nrules: [{name: , then: keep}]\n", "rules[0].name: here must be a text, not nothing"},
	{"a rule without a name", "version: 1\nrules: [{then: keep}]\n", "p.yaml:2:9: rules[0]: name is missing"},
	{"a rule without then", "version: 1\nrules: [{name: a}]\n", "p.yaml:2:9: rules[0]: then is missing"},
	{"a bad name", rule("name: Über, then: keep"), "p.yaml:3:12: rules[0].name: the rule's name"},
	{"a name twice", "version: 1\nrules:\n- {name: a, when: {tags: [x]}, then: keep}\n- {name: a, then: keep}\n", "p.yaml:4:10: rules[1].name: the rule in line 3 has the name a already"},
	{"a rule that is never reached", "version: 1\nrules:\n- {name: a, then: keep}\n- {name: b, then: keep}\n", "p.yaml:4:3: rules[1]: this rule is never reached: rule a always matches"},
	{"an unknown kind", rule("name: a, then: {to: {agent: b}, kind: hot}"), `p.yaml:3:44: rules[0].then.kind: "hot" is not a kind`},
	{"an unknown reason", rule("name: a, then: {to: {agent: b}, reason: whim}"), `rules[0].then.reason: "whim" is not a reason`},
	{"nobody", rule("name: a, then: {to: {}}"), "p.yaml:3:26: rules[0].then.to: nobody is named"},
	{"no target", rule("name: a, then: {kind: warm}"), "rules[0].then: to is missing"},
	{"two targets", rule("name: a, then: {to: {agent: b, human: c}}"), "p.yaml:3:44: rules[0].then.to.human: agent and human are both given"},
	{"then another word", rule("name: a, then: stay"), `p.yaml:3:21: rules[0].then: here must be a mapping, not "stay"`},
	{"an empty target", rule(`name: a, then: {to: {agent: ""}}`), "rules[0].then.to.agent: agent is empty"},
	{"a chain that is not there", rule("name: a, then: {to: {chain: b}}"), "p.yaml:3:34: rules[0].then.to.chain: there is no chain b"},
	{"a broadcast to one", rule("name: a, then: {to: {agent: b}, kind: broadcast}"), "a handoff to an agent cannot be broadcast"},
	{"a warm channel", rule("name: a, then: {to: {channel: b}, kind: warm}"), "a handoff to a channel cannot be warm"},
	{"a delegation to people", rule("name: a, then: {to: {human: b}, kind: delegation}"), "a handoff to a human cannot be delegation"},
	{"an approver of a warm one", rule("name: a, then: {to: {agent: b}, kind: warm, supervised_by: c}"), "a warm handoff has no approver"},
	{"a bad strategy", rule("name: a, then: {to: {agent: b}, pack: {strategy: zip}}"), "rules[0].then.pack.strategy: \"zip\" is not a strategy"},
	{"a keyword without a word", rule("name: a, when: {keywords: ['--']}, then: keep"), `rules[0].when.keywords[0]: "--" has no word in it`},
	{"no keywords", rule("name: a, when: {keywords: []}, then: keep"), "rules[0].when.keywords: the list is empty"},
	{"too sure", rule("name: a, when: {confidence_below: 1.5}, then: keep"), "no confidence is below 1.5"},
	{"fewer than none", rule("name: a, when: {steps_above: -1}, then: keep"), "rules[0].when.steps_above: nothing has fewer than none"},
	{"tokens fewer than none", rule("name: a, when: {steps_above: 1, tokens_above: -1}, then: keep"), "rules[0].when.tokens_above: nothing"},
	{"no duration", rule("name: a, when: {elapsed_above: soon}, then: keep"), `"soon" is not a duration`},
	{"too long a duration", rule("name: a, when: {elapsed_above: 9999h}, then: keep"), "rules[0].when.elapsed_above: elapsed_above of"},
	{"CEL that is none", rule("name: a, when: {cel: 'task.intent =='}, then: keep"), "p.yaml:3:42: rules[0].when.cel: Syntax error"},
	{"CEL of a field like no other", rule("name: a, when: {cel: 'true && task.foo == 1'}, then: keep"), "undeclared reference to 'task.foo' (task has id, intent, tags, priority, state"},
	{"CEL of a field of a field", rule("name: a, when: {cel: 'agent.foo.bar == 1'}, then: keep"), "undeclared reference to 'agent.foo.bar' (agent has name, kind, capabilities"},
	{"CEL of something else", rule("name: a, when: {cel: 'foo == 1'}, then: keep"), "undeclared reference to 'foo' (use the fields of task, agent and envelope"},
	{"CEL of an unknown field", rule("name: a, when: {cel: true && task.mood == 1}, then: keep"), "p.yaml:3:39: rules[0].when.cel: undeclared reference to 'task.mood' (did you mean"},
	{"CEL of other types", rule("name: a, when: {cel: task.steps == 'x'}, then: keep"), "found no matching overload for '_==_'"},
	{"CEL that is no truth", rule("name: a, when: {cel: task.steps + 1}, then: keep"), "the expression must be true or false; this one is int"},
	{"CEL in a block", "version: 1\nrules:\n- name: a\n  when:\n    cel: |\n      task.steps > 1 &&\n      task.oops\n  then: keep\n", "p.yaml:7:11: rules[0].when.cel: undeclared reference to 'task.oops'"},
	{"CEL too long", rule("name: a, when: {cel: \"" + strings.Repeat("true && ", 600) + "true\"}, then: keep"), "the expression has 4804 bytes"},
	{"a chain without an end", "version: 1\nchains:\n  a: [{agent: x}, {capability: y}]\n", "p.yaml:3:19: chains.a[1]: the chain has no end"},
	{"a chain of nothing", "version: 1\nchains:\n  a: []\n", "p.yaml:3:6: chains.a: the chain has no levels"},
	{"a chain that goes on after people", "version: 1\nchains:\n  a: [{human: x}, {human: y}]\n", "p.yaml:3:7: chains.a[0]: nothing can follow a level of the kind human"},
	{"a chain that goes on with none", "version: 1\nchains:\n  a: [{chain: b}]\n", "p.yaml:3:15: chains.a[0].chain: there is no chain b"},
	{"a cycle of chains", "version: 1\nchains:\n  a: [{agent: x}, {chain: b}]\n  b: [{agent: y}, {chain: a}]\n", "p.yaml:3:19: chains.a[1]: the chains go round in a cycle: a → b → a"},
	{"a chain of itself", "version: 1\nchains:\n  a: [{chain: a}]\n", "chains.a[0]: the chains go round in a cycle: a → a"},
	{"a chain that visits twice", "version: 1\nchains:\n  a: [{agent: x}, {chain: b}]\n  b: [{agent: x}, {human: d}]\n", "p.yaml:3:6: chains.a: agent x comes twice along a → b"},
	{"a chain too deep", "version: 1\nchains:\n  a: [{agent: x}, {agent: y}, {chain: b}]\n  b: [{agent: z}, {agent: v}, {agent: w}, {human: d}]\n", "chains.a: 6 levels are too many along a → b"},
	{"too many levels", "version: 1\nchains:\n  a: [" + strings.Repeat("{agent: x}, ", 5) + "{human: d}]\n", "chains.a: 6 levels are too many"},
	{"escalation along no chain", "version: 1\nescalation: {agents: {x: b}}\n", "p.yaml:2:26: escalation.agents.x: there is no chain b"},
	{"a default that is no chain", "version: 1\nescalation: {default: b}\n", "escalation.default: there is no chain b"},
	{"an agent above itself", "version: 1\nchains: {a: [{agent: x}, {human: d}]}\nescalation: {agents: {x: a}}\n", "p.yaml:3:26: escalation.agents.x: agent x would be escalated to itself along chain a"},
	{"a fallback of itself", "version: 1\nfallbacks: {a: [a]}\n", "p.yaml:2:17: fallbacks.a[0]: agent a would be a fallback of itself"},
	{"a fallback twice", "version: 1\nfallbacks: {a: [b, b]}\n", "fallbacks.a[1]: agent b is named twice"},
	{"too many rules", "version: 1\nrules:\n" + strings.Repeat("- {name: a, then: keep}\n", 501), "p.yaml:3:1: rules: 501 rules are too many"},
	{"too large", "version: 1 #" + strings.Repeat("x", policy.MaxFile), "the file has"},
}

func rule(r string) string { return "version: 1\nrules:\n  - {" + r + "}\n" }

func TestBadFilesAreRefusedWithFileLineAndReason(t *testing.T) {
	for _, b := range bad {
		t.Run(b.name, func(t *testing.T) {
			p, problems := policy.Parse("p.yaml", []byte(b.text))
			if p != nil || len(problems) == 0 {
				t.Fatalf("it is taken: %+v", p)
			}
			if got := problems[0].String(); !strings.Contains(got, b.want) {
				t.Errorf("got  %s\nwant %s", got, b.want)
			}
			if r, ok := refusal.As(problems.Err()); !ok || r.Code != refusal.Invalid || len(r.Details["problems"].([]policy.Problem)) != len(problems) {
				t.Errorf("refused with %v", problems.Err())
			}
		})
	}
}

func TestAllProblemsOfAFileAreToldByLineUpToABound(t *testing.T) {
	_, problems := policy.Parse("p.yaml", []byte("version: 3\nrules:\n- {name: A, then: keep, when: {cel: '1'}}\nchains: {c: []}\n"))
	var lines []int
	for _, p := range problems {
		lines = append(lines, p.Line)
	}
	if !slices.Equal(lines, []int{1, 3, 3, 4}) {
		t.Errorf("lines %v:\n%v", lines, problems)
	}
	var b strings.Builder
	b.WriteString("version: 1\n")
	for i := range 100 {
		fmt.Fprintf(&b, "x%d: 1\n", i)
	}
	if _, problems = policy.Parse("p.yaml", []byte(b.String())); len(problems) != policy.MaxProblems {
		t.Errorf("%d problems", len(problems))
	}
}

func TestTargetsThatAreNotThereAreFoundWithLineAndReason(t *testing.T) {
	p := parsed(t, desk)
	if problems := p.Missing("p.yaml", policy.Targets{}); len(problems) > 0 {
		t.Errorf("where everything is there: %v", problems)
	}
	has := func(names ...string) func(string) bool {
		return func(n string) bool { return slices.Contains(names, n) }
	}
	problems := p.Missing("p.yaml", policy.Targets{
		Agent: has("router", "specialist", "lead", "boss", "writer"), Capability: has("billing"), Channel: has(), Desk: has(),
	})
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	for i, want := range []string{
		"p.yaml:16:24: rules[2].then.to.human: there is no desk vip-desk (register a person",
		"p.yaml:19:46: rules[3].then.supervised_by: there is no agent auditor (register it",
		"p.yaml:25:19: chains.support[1].capability: there is no agent with the capability research",
		"p.yaml:32:5: escalation.capabilities.research: there is no agent with the capability research",
		"p.yaml:35:24: fallbacks.specialist[1]: there is no agent editor",
	} {
		if i >= len(got) || !strings.Contains(got[i], want) {
			t.Fatalf("want %s in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if len(got) != 5 {
		t.Errorf("more:\n%s", strings.Join(got, "\n"))
	}
}

// FuzzParse looks for files that make the reader panic, hang, or give both a policy and problems.
func FuzzParse(f *testing.F) {
	f.Add([]byte(desk))
	for _, b := range bad {
		if len(b.text) < 4096 {
			f.Add([]byte(b.text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, problems := policy.Parse("p.yaml", text)
		if (p == nil) != (len(problems) > 0) {
			t.Fatalf("policy %v, problems %v", p, problems)
		}
		lines := 1
		for _, r := range string(text) {
			if strings.ContainsRune("\n\r\u0085\u2028\u2029", r) { // what ends a line in YAML
				lines++
			}
		}
		for _, one := range problems {
			if one.Line < 1 || one.Column < 1 || one.Line > lines+1 || one.Reason == "" {
				t.Fatalf("%+v in %d lines", one, lines)
			}
		}
		if p == nil {
			return
		}
		p.Missing("p.yaml", policy.Targets{Agent: func(string) bool { return false }, Desk: func(string) bool { return false }})
		for name := range p.Chains {
			levels := p.Chain(name)
			if n := len(levels); n == 0 || n > policy.MaxLevels || levels[n-1].Human == "" {
				t.Fatalf("chain %s is %v", name, levels)
			}
		}
		s := policy.Situation{Task: policy.TaskView{Intent: "please pay this invoice", Tags: []string{"vip"}}}
		if _, err := p.Match(t.Context(), &s); err != nil {
			t.Fatal(err)
		}
		again, problems := policy.Parse("p.yaml", text)
		if len(problems) > 0 || again.Digest() != p.Digest() {
			t.Fatal("another time it is another policy")
		}
	})
}

func TestNothingIsErasedAtMostAfterDaysWhereNothingCanBeErased(t *testing.T) {
	p := parsed(t, "version: 1\nretention:\n  - at_least_days: 3\n  - tag: x\n    at_most_days: 5\n")
	if problems := p.Missing("p.yaml", policy.Targets{}); len(problems) > 0 {
		t.Errorf("in a record that is erasable: %v", problems)
	}
	problems := p.Missing("p.yaml", policy.Targets{Unerasable: true})
	if want := "p.yaml:5:19: retention[1].at_most_days: the content of this record cannot be erased (start the server with --erasable, or remove the rule)"; len(problems) != 1 || problems[0].String() != want {
		t.Errorf("the problems are %v, want %s", problems, want)
	}
}
