package agent_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/ruletest"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// agentStory is one agent's stream in a test.
type agentStory struct {
	*ruletest.Stream[agent.State, agent.Command, agent.Event]
}

func newAgent(t *testing.T, spec agent.Spec) *agentStory {
	a := &agentStory{&ruletest.Stream[agent.State, agent.Command, agent.Event]{TB: t, Decide: agent.Decide, Fold: agent.Fold, Now: noon}}
	a.Do(agent.Register{Name: "writer", Spec: spec}, "agent-registered")
	return a
}

func (a *agentStory) is(want agent.Readiness) {
	a.Helper()
	if got := a.State.Readiness(); got != want {
		a.Fatalf("readiness %s, want %s", got, want)
	}
}

func TestRegisteringTwiceTheSameChangesNothing(t *testing.T) {
	a := newAgent(t, agent.Spec{Capabilities: []string{"go", "docs", "go"}})
	a.is(agent.Ready)
	if got := a.State.Spec; !reflect.DeepEqual(got.Capabilities, []string{"docs", "go"}) ||
		got.Kind != agent.KindAgent || got.Breaker != (agent.Breaker{Failures: 3, OpenFor: time.Minute}) {
		t.Errorf("spec %+v", got)
	}
	a.Do(agent.Register{Name: "writer", Spec: agent.Spec{
		Kind: agent.KindAgent, Capabilities: []string{"docs", "go"}, Breaker: agent.Breaker{Failures: 3},
	}})
	a.Do(agent.Register{Name: "writer", Spec: agent.Spec{Capabilities: []string{"docs"}}}, "agent-updated")
	if !a.State.Spec.Has("docs") || a.State.Spec.Has("go") {
		t.Errorf("capabilities %v", a.State.Spec.Capabilities)
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
		{Estimates: agent.Estimates{Cost: 5}},
		{Estimates: agent.Estimates{Latency: time.Hour}},
		{Breaker: agent.Breaker{Failures: 1}},
		{Breaker: agent.Breaker{OpenFor: time.Second}},
	} {
		a := newAgent(t, agent.Spec{})
		a.Do(agent.Register{Name: "writer", Spec: spec}, "agent-updated")
		a.Do(agent.Register{Name: "writer", Spec: spec})
	}
}

func TestTheCallersSpecMayChangeAfterwards(t *testing.T) {
	caps := []string{"go", "docs"}
	a := newAgent(t, agent.Spec{Capabilities: caps, Fallbacks: caps})
	caps[0], caps[1] = "x", "y"
	if !a.State.Spec.Has("go") || a.State.Spec.Fallbacks[0] != "go" {
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
		"negative cost":            {Estimates: agent.Estimates{Cost: -1}},
		"absurd cost":              {Estimates: agent.Estimates{Cost: agent.MaxCost + 1}},
		"absurd latency":           {Estimates: agent.Estimates{Latency: agent.MaxLatency + 1}},
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
			a := &agentStory{&ruletest.Stream[agent.State, agent.Command, agent.Event]{TB: t, Decide: agent.Decide, Fold: agent.Fold, Now: noon}}
			r := a.Refused(agent.Register{Name: "writer", Spec: spec}, want)
			if r.Hint == "" || strings.Contains(r.Error(), "secret") {
				t.Errorf("refusal %v", r)
			}
		})
	}
}

func TestAnAgentWithoutALeaseIsAsReadyAsItSaid(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.Now = a.Now.Add(1000 * time.Hour)
	a.Do(agent.LapsePresence{Name: "writer", LastHeard: noon})
	a.is(agent.Ready)
	a.Do(agent.SetReadiness{Name: "writer", Readiness: agent.Busy, By: writer}, "agent-readiness-changed")
	a.Do(agent.SetReadiness{Name: "writer", Readiness: agent.Busy, By: writer})
	a.is(agent.Busy)
}

func TestMissedHeartbeatsMakeAnAgentOfflineUntilItIsHeardAgain(t *testing.T) {
	a := newAgent(t, agent.Spec{PresenceTTL: 30 * time.Second})
	a.Do(agent.SetReadiness{Name: "writer", Readiness: agent.Draining, By: operator}, "agent-readiness-changed")

	a.Now = noon.Add(30*time.Second - 1)
	a.Do(agent.LapsePresence{Name: "writer", LastHeard: noon})
	a.is(agent.Draining)

	a.Now = noon.Add(30 * time.Second)
	a.Do(agent.LapsePresence{Name: "writer", LastHeard: noon}, "agent-presence-lapsed")
	a.Do(agent.LapsePresence{Name: "writer", LastHeard: noon})
	a.is(agent.Offline)

	a.Do(agent.ReturnPresence{Name: "writer"}, "agent-presence-returned")
	a.Do(agent.ReturnPresence{Name: "writer"})
	a.is(agent.Draining) // a heartbeat does not overrule the operator
}

func TestAProgramThatConnectsHasPresence(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.Do(agent.ReturnPresence{Name: "writer"}) // it called once
	a.Do(agent.ReturnPresence{Name: "writer", Connected: true}, "agent-updated")
	a.Do(agent.ReturnPresence{Name: "writer", Connected: true})
	a.is(agent.Ready)
	a.Now = noon.Add(agent.DefaultPresence)
	a.Do(agent.LapsePresence{Name: "writer", LastHeard: noon}, "agent-presence-lapsed")
	a.is(agent.Offline)

	person := newAgent(t, agent.Spec{Kind: agent.KindHuman})
	person.Do(agent.ReturnPresence{Name: "writer", Connected: true})
	own := newAgent(t, agent.Spec{PresenceTTL: time.Hour})
	own.Do(agent.ReturnPresence{Name: "writer", Connected: true})
}

func TestAWordEndsALapse(t *testing.T) {
	a := newAgent(t, agent.Spec{PresenceTTL: time.Second})
	a.Now = noon.Add(time.Minute)
	a.Do(agent.LapsePresence{Name: "writer", LastHeard: noon}, "agent-presence-lapsed")
	a.Do(agent.SetReadiness{Name: "writer", Readiness: agent.Ready, By: writer}, "agent-readiness-changed")
	a.is(agent.Ready)
}

func TestGivingUpTheLeaseEndsALapse(t *testing.T) {
	a := newAgent(t, agent.Spec{PresenceTTL: time.Second})
	a.Now = noon.Add(time.Minute)
	a.Do(agent.LapsePresence{Name: "writer", LastHeard: noon}, "agent-presence-lapsed")
	a.Do(agent.Register{Name: "writer", Spec: agent.Spec{PresenceTTL: 2 * time.Second}}, "agent-updated")
	a.is(agent.Offline)
	a.Do(agent.Register{Name: "writer"}, "agent-updated")
	a.is(agent.Ready)
}

func TestUnknownReadinessIsRefused(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.Refused(agent.SetReadiness{Name: "writer", Readiness: "asleep", By: writer}, refusal.Invalid)
	a.Refused(agent.SetReadiness{Name: "writer", Readiness: agent.Ready}, refusal.NotPermitted)
	a.Refused(agent.SetReadiness{Name: "writer", Readiness: agent.Ready, By: identity.Principal{Role: identity.Agent, Name: "eve"}}, refusal.NotPermitted)
}

func TestARemovedAgentIsGoneAndMayComeBack(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.Do(agent.ReportOutcome{Name: "writer", Cause: 7, Outcome: agent.LeaseLost}, "circuit-failure-counted")
	a.Do(agent.Remove{Name: "writer"}, "agent-removed")
	a.is(agent.Offline)
	for _, c := range []agent.Command{
		agent.Remove{Name: "writer"},
		agent.SetReadiness{Name: "writer", Readiness: agent.Ready, By: writer},
		agent.LapsePresence{Name: "writer"},
		agent.ReturnPresence{Name: "writer"},
		agent.ClaimProbe{Name: "writer", Handoff: "h1"},
		agent.ResetCircuit{Name: "writer"},
	} {
		a.Refused(c, refusal.NotFound)
	}
	a.Do(agent.ReportOutcome{Name: "writer", Cause: 9, Outcome: agent.LeaseLost}) // late, and no mistake
	a.Do(agent.Register{Name: "writer"}, "agent-registered")
	a.is(agent.Ready)
	a.Do(agent.ReportOutcome{Name: "writer", Cause: 7, Outcome: agent.LeaseLost}) // counted in its former life
	if a.State.Circuit.Failures != 0 {
		t.Error("failures of the former life count")
	}
}

func TestACommandForAnotherAgentIsRefused(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.Refused(agent.Remove{Name: "editor"}, refusal.Invalid)
	a.Refused(agent.Register{Name: "editor"}, refusal.Invalid)
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

func TestAnAgentUnderTheNameOfOneThatWasRemovedIsAnother(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	if a.State.Name != "writer" {
		t.Fatalf("%+v", a.State)
	}
	for _, id := range []string{"writer~2", "writer~3"} {
		before := a.State.Name
		a.Do(agent.Remove{Name: before}, "agent-removed")
		a.Refused(agent.Remove{Name: before}, refusal.NotFound)
		a.Do(agent.Register{Name: "writer"}, "agent-registered")
		if a.State.Name != id {
			t.Fatalf("%+v", a.State)
		}
		if before != "writer" { // which means the agent that has the name now
			a.Refused(agent.SetReadiness{Name: before, Readiness: agent.Busy, By: operator}, refusal.NotFound)
		}
		a.Refused(agent.Remove{Name: "writer~1"}, refusal.NotFound)
		a.Do(agent.ReportOutcome{Name: before, Cause: 99, Outcome: agent.Unanswered}) // is of the one before
	}
	for _, e := range []agent.Event{agent.Removed{}, agent.Registered{Name: "writer"}} { // as older records have it
		a.State = agent.Fold(agent.State{Name: "writer"}, e)
	}
	if a.State.Name != "writer" || !a.State.Exists() {
		t.Errorf("%+v", a.State)
	}
}
