package agent_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// agent is one agent's stream in a test: it decides, folds and remembers the names of its events.
type agentStory struct {
	t     *testing.T
	state agent.State
	now   time.Time
}

func newAgent(t *testing.T, spec agent.Spec) *agentStory {
	a := &agentStory{t: t, now: noon}
	a.do(agent.Register{Name: "writer", Spec: spec}, "agent-registered")
	return a
}

// do expects exactly these events.
func (a *agentStory) do(c agent.Command, want ...string) []agent.Event {
	a.t.Helper()
	events, err := agent.Decide(a.state, c, a.now)
	if err != nil {
		a.t.Fatalf("%#v: %v", c, err)
	}
	var got []string
	for _, e := range events {
		got = append(got, e.EventName())
		a.state = agent.Fold(a.state, e)
	}
	if !reflect.DeepEqual(got, want) {
		a.t.Fatalf("%#v: events %v, want %v", c, got, want)
	}
	return events
}

// refused expects a refusal.
func (a *agentStory) refused(c agent.Command, code refusal.Code) *refusal.Error {
	a.t.Helper()
	events, err := agent.Decide(a.state, c, a.now)
	r, ok := refusal.As(err)
	if !ok || r.Code != code || len(events) != 0 {
		a.t.Fatalf("%#v: events %v, error %v, want a refusal %s", c, events, err, code)
	}
	return r
}

func (a *agentStory) is(want agent.Readiness) {
	a.t.Helper()
	if got := a.state.Readiness(); got != want {
		a.t.Fatalf("readiness %s, want %s", got, want)
	}
}

func TestRegisteringTwiceTheSameChangesNothing(t *testing.T) {
	a := newAgent(t, agent.Spec{Capabilities: []string{"go", "docs", "go"}})
	a.is(agent.Ready)
	if got := a.state.Spec; !reflect.DeepEqual(got.Capabilities, []string{"docs", "go"}) ||
		got.Kind != agent.KindAgent || got.Breaker != (agent.Breaker{Failures: 3, OpenFor: time.Minute}) {
		t.Errorf("spec %+v", got)
	}
	a.do(agent.Register{Name: "writer", Spec: agent.Spec{
		Kind: agent.KindAgent, Capabilities: []string{"docs", "go"}, Breaker: agent.Breaker{Failures: 3},
	}})
	a.do(agent.Register{Name: "writer", Spec: agent.Spec{Capabilities: []string{"docs"}}}, "agent-updated")
	if !a.state.Spec.Has("docs") || a.state.Spec.Has("go") {
		t.Errorf("capabilities %v", a.state.Spec.Capabilities)
	}
}

func TestEachPartOfASpecCountsAsAChange(t *testing.T) {
	for _, spec := range []agent.Spec{
		{Kind: agent.KindHuman},
		{Description: "writes"},
		{Capabilities: []string{"go"}},
		{MaxTasks: 1},
		{ContextWindow: 200_000},
		{Tokenizer: "o200k_base"},
		{Reach: []agent.Reach{{Kind: agent.ReachWebhook, URL: "https://example.com/hook"}}},
		{Fallbacks: []string{"editor"}},
		{Escalation: []string{"boss"}},
		{PresenceTTL: time.Second},
		{Hints: agent.Estimates{Cost: 5}},
		{Hints: agent.Estimates{Latency: time.Hour}},
		{Breaker: agent.Breaker{Failures: 1}},
		{Breaker: agent.Breaker{OpenFor: time.Second}},
	} {
		a := newAgent(t, agent.Spec{})
		a.do(agent.Register{Name: "writer", Spec: spec}, "agent-updated")
		a.do(agent.Register{Name: "writer", Spec: spec})
	}
}

func TestTheCallersSpecMayChangeAfterwards(t *testing.T) {
	caps := []string{"go", "docs"}
	a := newAgent(t, agent.Spec{Capabilities: caps, Fallbacks: caps})
	caps[0], caps[1] = "x", "y"
	if !a.state.Spec.Has("go") || a.state.Spec.Fallbacks[0] != "go" {
		t.Error("the state shares memory with its caller")
	}
}

func TestASpecThatBreaksARuleIsRefused(t *testing.T) {
	many := func(n int) (names []string) {
		for i := range n {
			names = append(names, "a"+strings.Repeat("b", i%50)+string(rune('a'+i/50)))
		}
		return names
	}
	hook := func(url string) []agent.Reach { return []agent.Reach{{Kind: agent.ReachWebhook, URL: url}} }
	for name, spec := range map[string]agent.Spec{
		"unknown kind":             {Kind: "robot"},
		"falls back on itself":     {Fallbacks: []string{"editor", "writer"}},
		"escalates to itself":      {Escalation: []string{"writer"}},
		"fallback twice":           {Fallbacks: []string{"editor", "editor"}},
		"bad fallback":             {Fallbacks: []string{"../editor"}},
		"too many fallbacks":       {Fallbacks: many(17)},
		"too many levels":          {Escalation: many(17)},
		"bad capability":           {Capabilities: []string{"Go"}},
		"too many capabilities":    {Capabilities: many(65)},
		"negative tasks":           {MaxTasks: -1},
		"absurd tasks":             {MaxTasks: 1 << 40},
		"negative window":          {ContextWindow: -1},
		"negative cost":            {Hints: agent.Estimates{Cost: -1}},
		"absurd cost":              {Hints: agent.Estimates{Cost: agent.MaxCost + 1}},
		"absurd latency":           {Hints: agent.Estimates{Latency: agent.MaxLatency + 1}},
		"negative lease":           {PresenceTTL: -time.Second},
		"absurd lease":             {PresenceTTL: 1000 * time.Hour},
		"tiny lease":               {PresenceTTL: 1},
		"negative failures":        {Breaker: agent.Breaker{Failures: -1}},
		"absurd open circuit":      {Breaker: agent.Breaker{OpenFor: 1 << 62}},
		"negative open circuit":    {Breaker: agent.Breaker{OpenFor: -1}},
		"bad tokenizer":            {Tokenizer: "a b"},
		"unknown way":              {Reach: []agent.Reach{{Kind: "pigeon"}}},
		"pull with address":        {Reach: []agent.Reach{{Kind: agent.ReachPull, URL: "http://x"}}},
		"push without address":     {Reach: hook("")},
		"local file":               {Reach: hook("file:///etc/passwd")},
		"relative address":         {Reach: hook("/hook")},
		"address with password":    {Reach: hook("https://user:secret@example.com/")},
		"too many ways":            {Reach: make([]agent.Reach, 9)},
		"control in description":   {Description: "a\x1b[31m"},
		"bidi in description":      {Description: "a\u202eb"},
		"broken UTF-8":             {Description: "\xff"},
		"description is too large": {Description: strings.Repeat("a", 2001)},
		"address is too large":     {Reach: hook("https://example.com/" + strings.Repeat("a", 2048))},
	} {
		t.Run(name, func(t *testing.T) {
			want := refusal.Invalid
			if strings.HasSuffix(name, "too large") {
				want = refusal.TooLarge
			}
			a := &agentStory{t: t, now: noon}
			r := a.refused(agent.Register{Name: "writer", Spec: spec}, want)
			if r.Hint == "" || strings.Contains(r.Error(), "secret") {
				t.Errorf("refusal %v", r)
			}
		})
	}
}

func TestAnAgentWithoutALeaseIsAsReadyAsItSaid(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.now = a.now.Add(1000 * time.Hour)
	a.do(agent.LapsePresence{Name: "writer", LastHeard: noon})
	a.is(agent.Ready)
	a.do(agent.SetReadiness{Name: "writer", Readiness: agent.Busy, By: writer}, "agent-readiness-changed")
	a.do(agent.SetReadiness{Name: "writer", Readiness: agent.Busy, By: writer})
	a.is(agent.Busy)
}

func TestMissedHeartbeatsMakeAnAgentOfflineUntilItIsHeardAgain(t *testing.T) {
	a := newAgent(t, agent.Spec{PresenceTTL: 30 * time.Second})
	a.do(agent.SetReadiness{Name: "writer", Readiness: agent.Draining, By: operator}, "agent-readiness-changed")

	a.now = noon.Add(30*time.Second - 1)
	a.do(agent.LapsePresence{Name: "writer", LastHeard: noon})
	a.is(agent.Draining)

	a.now = noon.Add(30 * time.Second)
	a.do(agent.LapsePresence{Name: "writer", LastHeard: noon}, "agent-presence-lapsed")
	a.do(agent.LapsePresence{Name: "writer", LastHeard: noon})
	a.is(agent.Offline)

	a.do(agent.ReturnPresence{Name: "writer"}, "agent-presence-returned")
	a.do(agent.ReturnPresence{Name: "writer"})
	a.is(agent.Draining) // a heartbeat does not overrule the operator
}

func TestAWordEndsALapse(t *testing.T) {
	a := newAgent(t, agent.Spec{PresenceTTL: time.Second})
	a.now = noon.Add(time.Minute)
	a.do(agent.LapsePresence{Name: "writer", LastHeard: noon}, "agent-presence-lapsed")
	a.do(agent.SetReadiness{Name: "writer", Readiness: agent.Ready, By: writer}, "agent-readiness-changed")
	a.is(agent.Ready)
}

func TestGivingUpTheLeaseEndsALapse(t *testing.T) {
	a := newAgent(t, agent.Spec{PresenceTTL: time.Second})
	a.now = noon.Add(time.Minute)
	a.do(agent.LapsePresence{Name: "writer", LastHeard: noon}, "agent-presence-lapsed")
	a.do(agent.Register{Name: "writer", Spec: agent.Spec{PresenceTTL: 2 * time.Second}}, "agent-updated")
	a.is(agent.Offline)
	a.do(agent.Register{Name: "writer"}, "agent-updated")
	a.is(agent.Ready)
}

func TestUnknownReadinessIsRefused(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.refused(agent.SetReadiness{Name: "writer", Readiness: "asleep", By: writer}, refusal.Invalid)
	a.refused(agent.SetReadiness{Name: "writer", Readiness: agent.Ready}, refusal.NotPermitted)
	a.refused(agent.SetReadiness{Name: "writer", Readiness: agent.Ready, By: identity.Principal{Role: identity.Agent, Name: "eve"}}, refusal.NotPermitted)
}

func TestARemovedAgentIsGoneAndMayComeBack(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.do(agent.ReportOutcome{Name: "writer", Cause: 7, Outcome: agent.LeaseLost}, "circuit-failure-counted")
	a.do(agent.Remove{Name: "writer"}, "agent-removed")
	a.is(agent.Offline)
	for _, c := range []agent.Command{
		agent.Remove{Name: "writer"},
		agent.SetReadiness{Name: "writer", Readiness: agent.Ready, By: writer},
		agent.LapsePresence{Name: "writer"},
		agent.ReturnPresence{Name: "writer"},
		agent.ClaimProbe{Name: "writer", Handoff: "h1"},
		agent.ResetCircuit{Name: "writer"},
	} {
		a.refused(c, refusal.NotFound)
	}
	a.do(agent.ReportOutcome{Name: "writer", Cause: 9, Outcome: agent.LeaseLost}) // late, and no mistake
	a.do(agent.Register{Name: "writer"}, "agent-registered")
	a.is(agent.Ready)
	a.do(agent.ReportOutcome{Name: "writer", Cause: 7, Outcome: agent.LeaseLost}) // counted in its former life
	if a.state.Circuit.Failures != 0 {
		t.Error("failures of the former life count")
	}
}

func TestACommandForAnotherAgentIsRefused(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.refused(agent.Remove{Name: "editor"}, refusal.Invalid)
	a.refused(agent.Register{Name: "editor"}, refusal.Invalid)
}

func TestEventNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range agent.Events {
		if seen[e.EventName()] || e.EventName() == "" {
			t.Errorf("%T: name %q", e, e.EventName())
		}
		seen[e.EventName()] = true
		if reflect.TypeOf(e).Kind() != reflect.Struct {
			t.Errorf("%T is not a struct value", e)
		}
	}
}
