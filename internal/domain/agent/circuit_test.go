package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func report(cause uint64, o agent.Outcome, handoffID string) agent.ReportOutcome {
	return agent.ReportOutcome{Name: "writer", Cause: cause, Outcome: o, Task: "t", Handoff: handoffID}
}

func claim(handoffID string) agent.ClaimProbe {
	return agent.ClaimProbe{Name: "writer", Handoff: handoffID}
}

// broken is an agent whose circuit opened at noon; the last cause is 3.
func broken(t *testing.T) *agentStory {
	a := newAgent(t, agent.Spec{})
	a.Do(report(1, agent.DeliveryError, "h1"), "circuit-failure-counted")
	a.Do(report(2, agent.Unanswered, "h2"), "circuit-failure-counted")
	a.Do(report(3, agent.LeaseLost, "h3"), "circuit-opened")
	return a
}

func (a *agentStory) phase(want agent.Phase) {
	a.Helper()
	if got := agent.CircuitAt(a.State, a.Now); got.Phase != want {
		a.Fatalf("circuit %+v, want %s", got, want)
	}
}

func TestThreeFailuresInARowOpenTheCircuitForAMinute(t *testing.T) {
	a := broken(t)
	a.phase(agent.Open)
	r := a.Refused(claim("h4"), refusal.CircuitOpen)
	if !strings.Contains(r.Message, "2026-01-02T12:01:00Z") || !strings.Contains(r.Message, "3 failures") {
		t.Errorf("message %q", r.Message)
	}
	a.Now = noon.Add(time.Minute - 1)
	a.phase(agent.Open)
	a.Now = noon.Add(time.Minute)
	a.phase(agent.HalfOpen)
	a.Do(claim("h4"), "circuit-probe-claimed")
	a.Do(report(4, agent.Accepted, "h4"), "circuit-closed")
	a.phase(agent.Closed)
}

func TestASuccessInBetweenStartsTheCountAgain(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.Do(report(1, agent.DeliveryError, "h1"), "circuit-failure-counted")
	a.Do(report(2, agent.DeliveryError, "h1"), "circuit-failure-counted")
	a.Do(report(3, agent.Accepted, "h1"), "circuit-failures-cleared")
	a.Do(report(4, agent.DeliveryError, "h2"), "circuit-failure-counted")
	a.phase(agent.Closed)
}

func TestLimitAndPeriodAreTheAgentsOwn(t *testing.T) {
	a := newAgent(t, agent.Spec{Breaker: agent.Breaker{Failures: 1, OpenFor: time.Second}})
	a.Do(report(1, agent.DeliveryError, "h1"), "circuit-opened")
	a.Now = noon.Add(time.Second)
	a.phase(agent.HalfOpen)
}

func TestAFailedProbeOpensTheCircuitForAnotherPeriod(t *testing.T) {
	a := broken(t)
	a.Now = noon.Add(2 * time.Minute)
	a.Do(claim("h4"), "circuit-probe-claimed")
	a.Do(report(4, agent.Unanswered, "h4"), "circuit-opened")
	a.phase(agent.Open)
	a.Now = noon.Add(3 * time.Minute)
	a.phase(agent.HalfOpen)
}

func TestExactlyOneProbeGetsThrough(t *testing.T) {
	a := broken(t)
	a.Now = noon.Add(time.Minute)
	a.Do(claim("h4"), "circuit-probe-claimed")
	a.Do(claim("h4")) // a repeat of the same claim
	r := a.Refused(claim("h5"), refusal.CircuitOpen)
	if !strings.Contains(r.Message, "2026-01-02T12:02:00Z") {
		t.Errorf("message %q", r.Message)
	}
}

func TestAProbeThatNeverReportsMakesRoomForAnother(t *testing.T) {
	a := broken(t)
	a.Now = noon.Add(time.Minute)
	a.Do(claim("h4"), "circuit-probe-claimed")
	a.Now = noon.Add(2 * time.Minute)
	a.Do(claim("h5"), "circuit-probe-claimed")
	a.Do(report(4, agent.Accepted, "h4")) // too late: h5 is the probe now
	a.Do(report(5, agent.Accepted, "h5"), "circuit-closed")
}

func TestALapsedProbeStillCountsIfNoneTookItsPlace(t *testing.T) {
	a := broken(t)
	a.Now = noon.Add(time.Minute)
	a.Do(claim("h4"), "circuit-probe-claimed")
	a.Now = noon.Add(time.Hour)
	a.Do(report(4, agent.Accepted, "h4"), "circuit-closed")
}

func TestLateOutcomesDoNotMoveAnOpenCircuit(t *testing.T) {
	a := broken(t)
	a.Do(report(4, agent.Accepted, "h0"))
	a.Do(report(5, agent.LeaseLost, "h0"))
	if got := agent.CircuitAt(a.State, a.Now).ResetAt; !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("reset at %v", got)
	}
}

func TestAnOutcomeReportedTwiceCountsOnce(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	for range 5 {
		events, err := agent.Decide(a.State, report(1, agent.LeaseLost, "h1"), a.Now)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			a.State = agent.Fold(a.State, e)
		}
	}
	if a.State.Circuit.Failures != 1 {
		t.Errorf("%d failures", a.State.Circuit.Failures)
	}
}

func TestAHealthyAgentsSuccessesNeedNoEntry(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	if agent.Worth(a.State, report(1, agent.Accepted, "h1")) {
		t.Error("a success without failures before it is worth an entry")
	}
	if !agent.Worth(a.State, report(1, agent.LeaseLost, "h1")) {
		t.Error("a failure is not worth an entry")
	}
	if agent.Worth(agent.State{}, report(1, agent.LeaseLost, "h1")) {
		t.Error("an outcome of nobody is worth an entry")
	}
	if n := testing.AllocsPerRun(100, func() { agent.Worth(a.State, report(1, agent.Accepted, "h1")) }); n > 1 {
		t.Errorf("%v allocations on the hot path", n)
	}
}

func TestUnknownOutcomesAndNamelessProbesAreRefused(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.Refused(report(1, "rejected", "h1"), refusal.Invalid)
	a.Refused(claim(""), refusal.Invalid)
	if agent.Worth(a.State, report(1, "rejected", "h1")) {
		t.Error("an unknown outcome is worth an entry")
	}
}

func TestAClockThatJumpsAnHourBlocksNobodyForAnHour(t *testing.T) {
	a := broken(t)
	a.Now = noon.Add(-time.Hour)
	a.phase(agent.HalfOpen)
	a.Do(claim("h4"), "circuit-probe-claimed")
	a.Refused(claim("h5"), refusal.CircuitOpen)
	a.Now = noon.Add(time.Hour)
	a.Do(claim("h5"), "circuit-probe-claimed")
	a.Now = noon.Add(-time.Second) // a little back, as between two nodes: the probe stays the only one
	a.Do(report(4, agent.Accepted, "h5"), "circuit-closed")
}

// in brings an agent's circuit into a situation. The last cause is at most 9.
func in(t *testing.T, s agent.CircuitState) *agentStory {
	t.Helper()
	a := newAgent(t, agent.Spec{Breaker: agent.Breaker{Failures: 3}})
	switch s {
	case agent.Clean:
		a.Do(report(1, agent.Unanswered, "h"), "circuit-failure-counted")
		a.Do(report(2, agent.Accepted, "h"), "circuit-failures-cleared")
	case agent.Counting:
		a.Do(report(1, agent.Unanswered, "h"), "circuit-failure-counted")
	case agent.Losing:
		a.Do(report(1, agent.LeaseLost, "h"), "circuit-failure-counted")
	case agent.Failing:
		a = newAgent(t, agent.Spec{Breaker: agent.Breaker{Failures: 9}})
		a.Do(report(1, agent.LeaseLost, "h"), "circuit-failure-counted")
		a.Do(report(2, agent.Unanswered, "h"), "circuit-failure-counted")
	default:
		a = broken(t)
		if s == agent.Broken {
			return a
		}
		a.Now = a.Now.Add(time.Minute)
		a.Do(claim("probe"), "circuit-probe-claimed")
		if s == agent.Waiting {
			a.Now = a.Now.Add(time.Minute)
		}
	}
	return a
}

// situation reads the situation from outside, without the code under test's own helper.
func situation(a *agentStory) agent.CircuitState {
	switch r := agent.CircuitAt(a.State, a.Now); {
	case r.Phase == agent.Open:
		return agent.Broken
	case r.Phase == agent.HalfOpen && r.Probe != "":
		return agent.Probing
	case r.Phase == agent.HalfOpen:
		return agent.Waiting
	case a.State.Circuit.Failures == 0 && a.State.Circuit.OnTrial > 0:
		return agent.Losing
	case a.State.Circuit.Failures == 0:
		return agent.Clean
	case a.State.Circuit.Lost == 0:
		return agent.Counting
	case a.State.Circuit.Lost == a.State.Circuit.Failures:
		return agent.Losing
	}
	return agent.Failing
}

// commandFor makes the command that pulls a trigger, or nil where that cannot come about.
func commandFor(a *agentStory, on agent.CircuitTrigger) agent.Command {
	closed := !a.State.Circuit.Open
	switch on {
	case agent.AcceptedOne:
		return report(10, agent.Accepted, "other")
	case agent.EndedOne:
		return report(10, agent.Ended, "")
	case agent.FailedOne:
		return report(10, agent.Unanswered, "other")
	case agent.LostOne:
		return report(10, agent.LeaseLost, "other")
	case agent.FailedTooOften:
		if closed {
			a.Do(agent.Register{Name: "writer", Spec: agent.Spec{Breaker: agent.Breaker{Failures: 1}}}, "agent-updated")
			return report(10, agent.LeaseLost, "other")
		}
	case agent.ProbeSucceeded, agent.ProbeFailed:
		if a.State.Circuit.Probe == "" && situation(a) == agent.Broken {
			// only a clock that was set back a little shows an open circuit that has a probe
			a.Now = noon.Add(time.Minute)
			a.Do(claim("probe"), "circuit-probe-claimed")
			a.Now = noon.Add(time.Minute - 1)
		}
		if !closed && on == agent.ProbeSucceeded {
			return report(10, agent.Accepted, "probe")
		}
		if !closed {
			return report(10, agent.DeliveryError, "probe")
		}
	case agent.Repeated:
		return report(1, agent.LeaseLost, "h1")
	case agent.Claimed:
		return claim("new")
	case agent.ClaimedAgain:
		if situation(a) == agent.Probing {
			return claim("probe")
		}
	case agent.OperatorReset:
		return agent.ResetCircuit{Name: "writer"}
	}
	return nil
}

var eventOf = map[agent.CircuitAction]string{
	agent.Count: "circuit-failure-counted", agent.Clear: "circuit-failures-cleared",
	agent.Break: "circuit-opened", agent.Close: "circuit-closed",
	agent.Admit: "circuit-probe-claimed", agent.Reset: "circuit-reset",
}

func TestEverySituationAndTriggerOfTheCircuitDoesWhatTheTableSays(t *testing.T) {
	rules := map[agent.CircuitState]map[agent.CircuitTrigger]agent.CircuitRule{}
	for _, r := range agent.CircuitTable {
		if rules[r.In] == nil {
			rules[r.In] = map[agent.CircuitTrigger]agent.CircuitRule{}
		}
		if _, twice := rules[r.In][r.On]; twice {
			t.Errorf("%s, %s: two rows", r.In, r.On)
		}
		rules[r.In][r.On] = r
	}
	for _, s := range []agent.CircuitState{agent.Clean, agent.Counting, agent.Losing, agent.Failing, agent.Broken, agent.Waiting, agent.Probing} {
		for _, on := range []agent.CircuitTrigger{
			agent.AcceptedOne, agent.EndedOne, agent.FailedOne, agent.LostOne, agent.FailedTooOften, agent.ProbeSucceeded, agent.ProbeFailed,
			agent.Repeated, agent.Claimed, agent.ClaimedAgain, agent.OperatorReset,
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

func walk(t *testing.T, a *agentStory, c agent.Command, rule agent.CircuitRule) {
	t.Helper()
	switch name := eventOf[rule.Do]; {
	case rule.Do == agent.Refuse:
		a.Refused(c, refusal.CircuitOpen)
	case name != "":
		a.Do(c, name)
	default:
		a.Do(c)
	}
	if got := situation(a); got != rule.Become {
		t.Errorf("became %q, the table says %q", got, rule.Become)
	}
}

// TestAnyHistoryOfACircuitKeepsItsPromises drives random commands and checks what callers rely on.
func TestAnyHistoryOfACircuitKeepsItsPromises(t *testing.T) {
	outcomes := []agent.Outcome{agent.DeliveryError, agent.Unanswered, agent.LeaseLost, agent.Accepted, agent.Ended}
	senders := []string{"", "agent/a", "agent/b", "agent/c"}
	rapid.Check(t, func(t *rapid.T) {
		s, now, cause := registered(t), noon, uint64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-5, 40).Draw(t, "seconds")) * time.Second)
			h := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "handoff")
			var c agent.Command
			switch rapid.IntRange(0, 4).Draw(t, "command") {
			case 0:
				c = claimOf(rapid.SampledFrom(senders).Draw(t, "sender"), h)
			case 1:
				c = agent.ResetCircuit{Name: "writer"}
			default:
				cause += uint64(rapid.IntRange(0, 2).Draw(t, "cause"))
				o := report(cause, rapid.SampledFrom(outcomes).Draw(t, "outcome"), h)
				o.Sender = rapid.SampledFrom(senders).Draw(t, "sender")
				c = o
			}
			s = step(t, s, c, now)
		}
	})
}

func registered(t *rapid.T) agent.State {
	events, err := agent.Decide(agent.State{}, agent.Register{Name: "writer"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return agent.Fold(agent.State{}, events[0])
}

func step(t *rapid.T, s agent.State, c agent.Command, now time.Time) agent.State {
	events, err := agent.Decide(s, c, now)
	if o, ok := c.(agent.ReportOutcome); ok && agent.Worth(s, o) != (len(events) > 0) {
		t.Fatalf("Worth disagrees with Decide about %+v", o)
	}
	if claim, ok := c.(agent.ClaimProbe); ok {
		before := agent.CircuitFor(s, claim.Sender, now, claim.Handoff)
		free := before.Admits()
		if free != (err == nil) {
			t.Fatalf("claim in %+v: %v", before, err)
		}
	} else if err != nil {
		t.Fatalf("%#v: %v", c, err)
	}
	for _, e := range events {
		s = agent.Fold(s, e)
	}
	if again, err := agent.Decide(s, c, now); len(again) > 0 || err != nil && len(events) > 0 {
		t.Fatalf("repeating %#v: %v %v", c, again, err)
	}
	unnamed, lost := s.Circuit.Failures, s.Circuit.Lost
	for _, p := range s.SenderCircuits {
		unnamed, lost = unnamed-p.Counted, lost-p.CountedLost
		if p.CountedLost < 0 || p.CountedLost > p.Counted || p.Circuit.Lost < 0 || p.Circuit.Lost > p.Circuit.Failures {
			t.Fatalf("leases lost in %+v", p)
		}
		if !p.Circuit.Open && p.Circuit.Failures >= s.Spec.Breaker.Failures || p.Counted > s.Spec.Breaker.Failures {
			t.Fatalf("closed with %+v", p)
		}
	}
	if !s.Circuit.Open && (unnamed < 0 || unnamed >= s.Spec.Breaker.Failures) {
		t.Fatalf("closed with %d failures that are of no sender", unnamed)
	}
	if !s.Circuit.Open && (lost < 0 || lost > unnamed) {
		t.Fatalf("%d leases lost of %d failures that are of no sender", lost, unnamed)
	}
	if r := agent.CircuitAt(s, now); !r.Admits() && r.ResetAt.Sub(now) > 2*s.Spec.Breaker.OpenFor {
		t.Fatalf("resets only at %v, now is %v", r.ResetAt, now)
	}
	return s
}
