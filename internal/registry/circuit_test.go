package registry_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
)

func report(cause uint64, o registry.Outcome, handoffID string) registry.ReportOutcome {
	return registry.ReportOutcome{Name: "writer", Cause: cause, Outcome: o, Task: "t", Handoff: handoffID}
}

func claim(handoffID string) registry.ClaimProbe {
	return registry.ClaimProbe{Name: "writer", Handoff: handoffID}
}

// broken is an agent whose circuit opened at noon; the last cause is 3.
func broken(t *testing.T) *agent {
	a := newAgent(t, registry.Spec{})
	a.do(report(1, registry.DeliveryError, "h1"), "circuit-failure-counted")
	a.do(report(2, registry.Unanswered, "h2"), "circuit-failure-counted")
	a.do(report(3, registry.LeaseLost, "h3"), "circuit-opened")
	return a
}

func (a *agent) phase(want registry.Phase) {
	a.t.Helper()
	if got := registry.CircuitAt(a.state, a.now); got.Phase != want {
		a.t.Fatalf("circuit %+v, want %s", got, want)
	}
}

func TestThreeFailuresInARowOpenTheCircuitForAMinute(t *testing.T) {
	a := broken(t)
	a.phase(registry.Open)
	r := a.refused(claim("h4"), refusal.CircuitOpen)
	if !strings.Contains(r.Message, "2026-01-02T12:01:00Z") || !strings.Contains(r.Message, "3 failures") {
		t.Errorf("message %q", r.Message)
	}
	a.now = noon.Add(time.Minute - 1)
	a.phase(registry.Open)
	a.now = noon.Add(time.Minute)
	a.phase(registry.HalfOpen)
	a.do(claim("h4"), "circuit-probe-claimed")
	a.do(report(4, registry.Success, "h4"), "circuit-closed")
	a.phase(registry.Closed)
}

func TestASuccessInBetweenStartsTheCountAgain(t *testing.T) {
	a := newAgent(t, registry.Spec{})
	a.do(report(1, registry.DeliveryError, "h1"), "circuit-failure-counted")
	a.do(report(2, registry.DeliveryError, "h1"), "circuit-failure-counted")
	a.do(report(3, registry.Success, "h1"), "circuit-failures-cleared")
	a.do(report(4, registry.DeliveryError, "h2"), "circuit-failure-counted")
	a.phase(registry.Closed)
}

func TestLimitAndPeriodAreTheAgentsOwn(t *testing.T) {
	a := newAgent(t, registry.Spec{Breaker: registry.Breaker{Failures: 1, OpenFor: time.Second}})
	a.do(report(1, registry.DeliveryError, "h1"), "circuit-opened")
	a.now = noon.Add(time.Second)
	a.phase(registry.HalfOpen)
}

func TestAFailedProbeOpensTheCircuitForAnotherPeriod(t *testing.T) {
	a := broken(t)
	a.now = noon.Add(2 * time.Minute)
	a.do(claim("h4"), "circuit-probe-claimed")
	a.do(report(4, registry.Unanswered, "h4"), "circuit-opened")
	a.phase(registry.Open)
	a.now = noon.Add(3 * time.Minute)
	a.phase(registry.HalfOpen)
}

func TestExactlyOneProbeGetsThrough(t *testing.T) {
	a := broken(t)
	a.now = noon.Add(time.Minute)
	a.do(claim("h4"), "circuit-probe-claimed")
	a.do(claim("h4")) // a repeat of the same claim
	r := a.refused(claim("h5"), refusal.CircuitOpen)
	if !strings.Contains(r.Message, "2026-01-02T12:02:00Z") {
		t.Errorf("message %q", r.Message)
	}
}

func TestAProbeThatNeverReportsMakesRoomForAnother(t *testing.T) {
	a := broken(t)
	a.now = noon.Add(time.Minute)
	a.do(claim("h4"), "circuit-probe-claimed")
	a.now = noon.Add(2 * time.Minute)
	a.do(claim("h5"), "circuit-probe-claimed")
	a.do(report(4, registry.Success, "h4")) // too late: h5 is the probe now
	a.do(report(5, registry.Success, "h5"), "circuit-closed")
}

func TestALapsedProbeStillCountsIfNoneTookItsPlace(t *testing.T) {
	a := broken(t)
	a.now = noon.Add(time.Minute)
	a.do(claim("h4"), "circuit-probe-claimed")
	a.now = noon.Add(time.Hour)
	a.do(report(4, registry.Success, "h4"), "circuit-closed")
}

func TestLateOutcomesDoNotMoveAnOpenCircuit(t *testing.T) {
	a := broken(t)
	a.do(report(4, registry.Success, "h0"))
	a.do(report(5, registry.LeaseLost, "h0"))
	if got := registry.CircuitAt(a.state, a.now).ResetAt; !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("reset at %v", got)
	}
}

func TestAnOutcomeReportedTwiceCountsOnce(t *testing.T) {
	a := newAgent(t, registry.Spec{})
	for range 5 {
		events, err := registry.Decide(a.state, report(1, registry.LeaseLost, "h1"), a.now)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			a.state = registry.Fold(a.state, e)
		}
	}
	if a.state.Circuit.Failures != 1 {
		t.Errorf("%d failures", a.state.Circuit.Failures)
	}
}

func TestAHealthyAgentsSuccessesNeedNoEntry(t *testing.T) {
	a := newAgent(t, registry.Spec{})
	if registry.Worth(a.state, report(1, registry.Success, "h1")) {
		t.Error("a success without failures before it is worth an entry")
	}
	if !registry.Worth(a.state, report(1, registry.LeaseLost, "h1")) {
		t.Error("a failure is not worth an entry")
	}
	if registry.Worth(registry.State{}, report(1, registry.LeaseLost, "h1")) {
		t.Error("an outcome of nobody is worth an entry")
	}
	if n := testing.AllocsPerRun(100, func() { registry.Worth(a.state, report(1, registry.Success, "h1")) }); n > 1 {
		t.Errorf("%v allocations on the hot path", n)
	}
}

func TestUnknownOutcomesAndNamelessProbesAreRefused(t *testing.T) {
	a := newAgent(t, registry.Spec{})
	a.refused(report(1, "rejected", "h1"), refusal.Invalid)
	a.refused(claim(""), refusal.Invalid)
	if registry.Worth(a.state, report(1, "rejected", "h1")) {
		t.Error("an unknown outcome is worth an entry")
	}
}

func TestAClockThatJumpsAnHourBlocksNobodyForAnHour(t *testing.T) {
	a := broken(t)
	a.now = noon.Add(-time.Hour)
	a.phase(registry.HalfOpen)
	a.do(claim("h4"), "circuit-probe-claimed")
	a.refused(claim("h5"), refusal.CircuitOpen)
	a.now = noon.Add(time.Hour)
	a.do(claim("h5"), "circuit-probe-claimed")
	a.now = noon.Add(-time.Second) // a little back, as between two nodes: the probe stays the only one
	a.do(report(4, registry.Success, "h5"), "circuit-closed")
}

// in brings an agent's circuit into a situation. The last cause is at most 9.
func in(t *testing.T, s registry.Situation) *agent {
	t.Helper()
	a := newAgent(t, registry.Spec{Breaker: registry.Breaker{Failures: 3}})
	switch s {
	case registry.Clean:
		a.do(report(1, registry.LeaseLost, "h"), "circuit-failure-counted")
		a.do(report(2, registry.Success, "h"), "circuit-failures-cleared")
	case registry.Counting:
		a.do(report(1, registry.LeaseLost, "h"), "circuit-failure-counted")
	default:
		a = broken(t)
		if s == registry.Broken {
			return a
		}
		a.now = a.now.Add(time.Minute)
		a.do(claim("probe"), "circuit-probe-claimed")
		if s == registry.Waiting {
			a.now = a.now.Add(time.Minute)
		}
	}
	return a
}

// situation reads the situation from outside, without the code under test's own helper.
func situation(a *agent) registry.Situation {
	switch r := registry.CircuitAt(a.state, a.now); {
	case r.Phase == registry.Open:
		return registry.Broken
	case r.Phase == registry.HalfOpen && r.Probe != "":
		return registry.Probing
	case r.Phase == registry.HalfOpen:
		return registry.Waiting
	case a.state.Circuit.Failures > 0:
		return registry.Counting
	}
	return registry.Clean
}

// commandFor makes the command that pulls a trigger, or nil where that cannot come about.
func commandFor(a *agent, on registry.Trigger) registry.Command {
	closed := !a.state.Circuit.Open
	switch on {
	case registry.Succeeded:
		return report(10, registry.Success, "other")
	case registry.FailedOnce:
		return report(10, registry.LeaseLost, "other")
	case registry.FailedTooOften:
		if closed {
			a.do(registry.Register{Name: "writer", Spec: registry.Spec{Breaker: registry.Breaker{Failures: 1}}}, "agent-updated")
			return report(10, registry.LeaseLost, "other")
		}
	case registry.ProbeSucceeded, registry.ProbeFailed:
		if a.state.Circuit.Probe == "" && situation(a) == registry.Broken {
			// only a clock that was set back a little shows an open circuit that has a probe
			a.now = noon.Add(time.Minute)
			a.do(claim("probe"), "circuit-probe-claimed")
			a.now = noon.Add(time.Minute - 1)
		}
		if !closed && on == registry.ProbeSucceeded {
			return report(10, registry.Success, "probe")
		}
		if !closed {
			return report(10, registry.DeliveryError, "probe")
		}
	case registry.Repeated:
		return report(1, registry.LeaseLost, "h1")
	case registry.Claimed:
		return claim("new")
	case registry.ClaimedAgain:
		if situation(a) == registry.Probing {
			return claim("probe")
		}
	case registry.OperatorReset:
		return registry.ResetCircuit{Name: "writer"}
	}
	return nil
}

var eventOf = map[registry.Action]string{
	registry.Count: "circuit-failure-counted", registry.Clear: "circuit-failures-cleared",
	registry.Break: "circuit-opened", registry.Close: "circuit-closed",
	registry.Admit: "circuit-probe-claimed", registry.Reset: "circuit-reset",
}

func TestEverySituationAndTriggerOfTheCircuitDoesWhatTheTableSays(t *testing.T) {
	rules := map[registry.Situation]map[registry.Trigger]registry.CircuitRule{}
	for _, r := range registry.CircuitTable {
		if rules[r.In] == nil {
			rules[r.In] = map[registry.Trigger]registry.CircuitRule{}
		}
		if _, twice := rules[r.In][r.On]; twice {
			t.Errorf("%s, %s: two rows", r.In, r.On)
		}
		rules[r.In][r.On] = r
	}
	for _, s := range []registry.Situation{registry.Clean, registry.Counting, registry.Broken, registry.Waiting, registry.Probing} {
		for _, on := range []registry.Trigger{
			registry.Succeeded, registry.FailedOnce, registry.FailedTooOften, registry.ProbeSucceeded, registry.ProbeFailed,
			registry.Repeated, registry.Claimed, registry.ClaimedAgain, registry.OperatorReset,
		} {
			t.Run(fmt.Sprintf("%s/%s", s, on), func(t *testing.T) {
				a := in(t, s)
				c := commandFor(a, on)
				rule, listed := rules[s][on]
				if listed != (c != nil) {
					t.Fatalf("in the table: %v; can come about: %v", listed, c != nil)
				}
				if c == nil {
					return
				}
				if got := situation(a); got != s {
					t.Fatalf("the test is in %q", got)
				}
				walk(t, a, c, rule)
			})
		}
	}
}

func walk(t *testing.T, a *agent, c registry.Command, rule registry.CircuitRule) {
	t.Helper()
	switch name := eventOf[rule.Do]; {
	case rule.Do == registry.Refuse:
		a.refused(c, refusal.CircuitOpen)
	case name != "":
		a.do(c, name)
	default:
		a.do(c)
	}
	if got := situation(a); got != rule.Become {
		t.Errorf("became %q, the table says %q", got, rule.Become)
	}
}

// TestAnyHistoryOfACircuitKeepsItsPromises drives random commands and checks what callers rely on.
func TestAnyHistoryOfACircuitKeepsItsPromises(t *testing.T) {
	outcomes := []registry.Outcome{registry.DeliveryError, registry.Unanswered, registry.LeaseLost, registry.Success, registry.Success}
	rapid.Check(t, func(t *rapid.T) {
		s, now, cause := registered(t), noon, uint64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-5, 40).Draw(t, "seconds")) * time.Second)
			h := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "handoff")
			var c registry.Command
			switch rapid.IntRange(0, 4).Draw(t, "command") {
			case 0:
				c = claim(h)
			case 1:
				c = registry.ResetCircuit{Name: "writer"}
			default:
				cause += uint64(rapid.IntRange(0, 2).Draw(t, "cause"))
				c = report(cause, rapid.SampledFrom(outcomes).Draw(t, "outcome"), h)
			}
			s = step(t, s, c, now)
		}
	})
}

func registered(t *rapid.T) registry.State {
	events, err := registry.Decide(registry.State{}, registry.Register{Name: "writer"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return registry.Fold(registry.State{}, events[0])
}

func step(t *rapid.T, s registry.State, c registry.Command, now time.Time) registry.State {
	before := registry.CircuitAt(s, now)
	events, err := registry.Decide(s, c, now)
	if o, ok := c.(registry.ReportOutcome); ok && registry.Worth(s, o) != (len(events) > 0) {
		t.Fatalf("Worth disagrees with Decide about %+v", o)
	}
	if claim, ok := c.(registry.ClaimProbe); ok {
		free := before.Admits() || before.Probe == claim.Handoff
		if free != (err == nil) {
			t.Fatalf("claim in %+v: %v", before, err)
		}
	} else if err != nil {
		t.Fatalf("%#v: %v", c, err)
	}
	for _, e := range events {
		s = registry.Fold(s, e)
	}
	if again, err := registry.Decide(s, c, now); len(again) > 0 || err != nil && len(events) > 0 {
		t.Fatalf("repeating %#v: %v %v", c, again, err)
	}
	if !s.Circuit.Open && s.Circuit.Failures >= s.Spec.Breaker.Failures {
		t.Fatalf("closed with %d failures", s.Circuit.Failures)
	}
	if r := registry.CircuitAt(s, now); !r.Admits() && r.ResetAt.Sub(now) > 2*s.Spec.Breaker.OpenFor {
		t.Fatalf("resets only at %v, now is %v", r.ResetAt, now)
	}
	return s
}
