package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func reportOf(sender string, cause uint64, o agent.Outcome) agent.ReportOutcome {
	c := report(cause, o, fmt.Sprintf("h%d", cause))
	c.Sender = sender
	return c
}

func claimOf(sender, handoffID string) agent.ClaimProbe {
	c := claim(handoffID)
	c.Sender = sender
	return c
}

func (a *agentStory) phaseFor(sender string, want agent.Phase) {
	a.Helper()
	if got := agent.CircuitFor(a.State, sender, a.Now); got.Phase != want {
		a.Fatalf("circuit for %s is %+v, want %s", sender, got, want)
	}
}

// stopped is an agent that left five handoffs of one sender unanswered.
func stopped(t *testing.T) *agentStory {
	a := newAgent(t, agent.Spec{})
	a.Do(reportOf("agent/junk", 1, agent.Unanswered), "circuit-failure-counted")
	a.Do(reportOf("agent/junk", 2, agent.Unanswered), "circuit-failure-counted")
	a.Do(reportOf("agent/junk", 3, agent.LeaseLost), "circuit-opened")
	a.Do(reportOf("agent/junk", 4, agent.Unanswered))
	a.Do(reportOf("agent/junk", 5, agent.LeaseLost))
	return a
}

func TestFailuresOfOneSenderStopThatSenderAlone(t *testing.T) {
	a := stopped(t)
	a.phase(agent.Closed)
	a.phaseFor("agent/honest", agent.Closed)
	a.phaseFor("agent/junk", agent.Open)
	r := a.Refused(claimOf("agent/junk", "h9"), refusal.CircuitOpen)
	if !strings.Contains(r.Message, "for handoffs of junk is open after 3 failures") || r.Details["circuit"] != "pair" {
		t.Errorf("%q %v", r.Message, r.Details)
	}
	a.Do(claimOf("agent/honest", "h9"))
	a.Do(reportOf("agent/honest", 6, agent.Accepted), "circuit-failures-cleared")
	a.phaseFor("agent/junk", agent.Open)
	a.Now = noon.Add(time.Minute)
	a.phaseFor("agent/junk", agent.HalfOpen)
	a.Do(claimOf("agent/junk", "h7"), "circuit-probe-claimed")
	a.phaseFor("agent/honest", agent.Closed)
	a.Refused(claimOf("agent/junk", "h8"), refusal.CircuitOpen)
	a.Do(reportOf("agent/junk", 7, agent.Accepted), "circuit-closed")
	a.phaseFor("agent/junk", agent.Closed)
	a.Do(report(8, agent.Ended, ""), "circuit-failures-cleared") // one of its leases was lost
	if len(a.State.SenderCircuits) != 0 {
		t.Errorf("left: %+v", a.State.SenderCircuits)
	}
}

func TestAnAgentThatAcceptsAndDiesIsNotOfferedWorkForever(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	cause := uint64(0)
	next := func() uint64 { cause++; return cause }
	accepts := func(events ...string) { t.Helper(); a.Do(reportOf("agent/lead", next(), agent.Accepted), events...) }
	dies := func(events ...string) { t.Helper(); a.Do(reportOf("agent/lead", next(), agent.LeaseLost), events...) }
	accepts()
	dies("circuit-failure-counted")
	a.Do(reportOf("agent/other", next(), agent.Unanswered), "circuit-failure-counted")
	accepts("circuit-failures-cleared") // the offer that was not answered counts no more, the lost lease does
	if a.State.Circuit.Failures != 1 || a.State.Circuit.Lost != 1 {
		t.Errorf("%+v", a.State.Circuit)
	}
	dies("circuit-failure-counted")
	accepts()
	dies("circuit-opened")
	a.phaseFor("agent/lead", agent.Open)
	a.phaseFor("agent/other", agent.Closed)
	a.Now = noon.Add(time.Minute)
	probe := reportOf("agent/lead", next(), agent.Accepted)
	a.Do(claimOf("agent/lead", probe.Handoff), "circuit-probe-claimed")
	a.Do(probe, "circuit-closed")
	a.phaseFor("agent/lead", agent.Closed)
	dies("circuit-opened") // again: the first after the probe
	a.Now = noon.Add(2 * time.Minute)
	probe = reportOf("agent/lead", next(), agent.Accepted)
	a.Do(claimOf("agent/lead", probe.Handoff), "circuit-probe-claimed")
	a.Do(probe, "circuit-closed")
	a.Do(report(next(), agent.Ended, ""), "circuit-failures-cleared")
	a.Do(report(next(), agent.Ended, "")) // a healthy agent needs no entry
	dies("circuit-failure-counted")
	a.phaseFor("agent/lead", agent.Closed)
}

func TestFailuresOfTwoSendersOpenTheSharedCircuit(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.Do(reportOf("agent/a", 1, agent.Unanswered), "circuit-failure-counted")
	a.Do(reportOf("agent/b", 2, agent.Unanswered), "circuit-failure-counted")
	a.Do(reportOf("agent/a", 3, agent.LeaseLost), "circuit-failure-counted", "circuit-opened")
	a.phase(agent.Open)
	a.phaseFor("agent/c", agent.Open)
	if r := a.Refused(claimOf("agent/c", "h9"), refusal.CircuitOpen); r.Details["circuit"] != "shared" {
		t.Errorf("%+v", r)
	}
}

func TestWithALimitOfOneItStillTakesTwoSenders(t *testing.T) {
	a := newAgent(t, agent.Spec{Breaker: agent.Breaker{Failures: 1}})
	a.Do(reportOf("agent/a", 1, agent.Unanswered), "circuit-opened")
	a.phase(agent.Closed)
	a.Do(reportOf("agent/b", 2, agent.Unanswered), "circuit-opened", "circuit-opened")
	a.phase(agent.Open)
}

func TestFailuresOfDeliveryOpenTheSharedCircuitByThemselves(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.Do(reportOf("agent/a", 1, agent.DeliveryError), "circuit-failure-counted")
	a.Do(reportOf("agent/a", 2, agent.DeliveryError), "circuit-failure-counted")
	a.Do(reportOf("agent/a", 3, agent.DeliveryError), "circuit-opened")
	a.phase(agent.Open)
	a.Now = noon.Add(time.Minute)
	a.Do(claimOf("agent/a", "h4"), "circuit-probe-claimed") // it was not its doing
}

func TestThoseWhoseFailuresOpenedACircuitLeaveTheProbeToOthers(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	for i, sender := range []string{"agent/a", "agent/b"} {
		a.Do(reportOf(sender, uint64(i+1), agent.Unanswered), "circuit-failure-counted")
	}
	a.Do(reportOf("agent/b", 3, agent.Unanswered), "circuit-failure-counted", "circuit-opened")
	a.Now = noon.Add(time.Minute)
	r := a.Refused(claimOf("agent/a", "h4"), refusal.CircuitOpen)
	if !strings.Contains(r.Message, "left to senders whose failures did not open it") || !strings.Contains(r.Message, "12:02:00") {
		t.Errorf("%q", r.Message)
	}
	a.Refused(claimOf("agent/b", "h4"), refusal.CircuitOpen)
	a.Do(claimOf("agent/c", "h5"), "circuit-probe-claimed")
	a.Do(reportOf("agent/c", 5, agent.Unanswered), "circuit-failure-counted", "circuit-opened")
	a.Now = noon.Add(2 * time.Minute)
	a.Refused(claimOf("agent/a", "h6"), refusal.CircuitOpen) // it opened again
	a.Now = noon.Add(3 * time.Minute)
	a.Do(claimOf("agent/a", "h6"), "circuit-probe-claimed") // nobody else came: it is not left for ever
	a.Do(reportOf("agent/a", 6, agent.Accepted), "circuit-failures-cleared", "circuit-closed")
	a.phaseFor("agent/b", agent.Closed)
}

// TestCircuitEventsOfOlderRecordsMeanWhatTheyMeant folds events that name no sender.
func TestCircuitEventsOfOlderRecordsMeanWhatTheyMeant(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	fold := func(events ...agent.Event) {
		for _, e := range events {
			a.State = agent.Fold(a.State, e)
		}
	}
	fold(agent.FailureCounted{Cause: 1, Outcome: agent.Unanswered, Failures: 1}, agent.FailureCounted{Cause: 2, Outcome: agent.LeaseLost, Failures: 2})
	if a.State.Circuit.Failures != 2 || len(a.State.SenderCircuits) != 0 {
		t.Fatalf("%+v", a.State)
	}
	fold(agent.CircuitOpened{Cause: 3, Failures: 3, At: noon, ResetAt: noon.Add(time.Minute)})
	a.phaseFor("agent/any", agent.Open)
	a.Now = noon.Add(time.Minute)
	a.Do(claimOf("agent/any", "h4"), "circuit-probe-claimed")
	fold(agent.CircuitClosed{Cause: 4, Handoff: "h4"})
	a.phaseFor("agent/any", agent.Closed)
	fold(agent.FailureCounted{Cause: 5, Failures: 1}, agent.FailureCounted{Cause: 6, Failures: 2})
	a.Do(reportOf("agent/any", 7, agent.Unanswered), "circuit-failure-counted", "circuit-opened")
	fold(agent.CircuitReset{})
	a.phase(agent.Closed)
	fold(agent.FailureCounted{Cause: 8, Outcome: agent.LeaseLost, Failures: 1, Sender: "agent/any"}, agent.FailuresCleared{Cause: 9, Sender: "agent/any"})
	if a.State.Circuit.Failures != 0 || len(a.State.SenderCircuits) != 0 { // every success ended them all
		t.Fatalf("%+v", a.State)
	}
}

func TestAnOperatorsResetClosesTheCircuitsOfAllSenders(t *testing.T) {
	a := stopped(t)
	a.Do(agent.ResetCircuit{Name: "writer"}, "circuit-reset")
	a.phaseFor("agent/junk", agent.Closed)
	a.Do(agent.ResetCircuit{Name: "writer"})
}

func TestTheCircuitsOfAnAgentAreBounded(t *testing.T) {
	a := newAgent(t, agent.Spec{Breaker: agent.Breaker{Failures: agent.MaxFailures}})
	for i := range agent.MaxSenderCircuits + 50 {
		a.State = agent.Fold(a.State, agent.CircuitOpened{Sender: fmt.Sprintf("agent/s%d", i), Cause: uint64(i + 1), Failures: 1, At: noon, ResetAt: noon.Add(time.Minute)})
	}
	if n := len(a.State.SenderCircuits); n != agent.MaxSenderCircuits {
		t.Errorf("%d circuits", n)
	}
	a.phaseFor("agent/s0", agent.Closed) // the oldest gave way
	a.phaseFor(fmt.Sprintf("agent/s%d", agent.MaxSenderCircuits+49), agent.Open)
}

// TestACircuitThatAProbeClosedIsOnTrialUntilTheAgentEndsATask: people are told that it is half-open, also after another acceptance and another failure.
func TestACircuitThatAProbeClosedIsOnTrialUntilTheAgentEndsATask(t *testing.T) {
	for _, sender := range []string{"", "agent/lead"} {
		a := newAgent(t, agent.Spec{})
		of := func() *agent.Circuit {
			if sender == "" || len(a.State.SenderCircuits) == 0 {
				return &a.State.Circuit
			}
			return &a.State.SenderCircuits[0].Circuit
		}
		phase := func(want agent.Phase) {
			t.Helper()
			if got := of().PhaseAt(a.Now); got != want {
				t.Errorf("%q: %s, want %s: %+v", sender, got, want, a.State)
			}
		}
		for cause := range uint64(3) {
			c := reportOf(sender, cause+1, agent.Unanswered)
			a.Do(c, map[bool]string{true: "circuit-failure-counted", false: "circuit-opened"}[cause < 2])
		}
		phase(agent.Open)
		a.Now = noon.Add(time.Minute)
		probe := reportOf(sender, 4, agent.Accepted)
		a.Do(claimOf(sender, probe.Handoff), "circuit-probe-claimed")
		events, err := agent.Decide(a.State, probe, a.Now)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			a.State = agent.Fold(a.State, e)
		}
		phase(agent.HalfOpen)
		a.phaseFor(sender, agent.Closed) // offers are made
		a.Do(reportOf(sender, 5, agent.Unanswered), "circuit-failure-counted")
		phase(agent.HalfOpen)
		a.Do(reportOf(sender, 6, agent.Accepted), "circuit-failures-cleared")
		phase(agent.HalfOpen)
		a.Do(report(7, agent.Ended, ""), "circuit-failures-cleared")
		phase(agent.Closed)
		a.Do(report(8, agent.Ended, "")) // a healthy agent needs no entry
		if len(a.State.SenderCircuits) != 0 {
			t.Errorf("%+v", a.State)
		}
	}
}

// TestTheAcceptedProbesOfOlderRecordsEndedEverything: such records do not say that an agent that accepted a probe was on trial.
func TestTheAcceptedProbesOfOlderRecordsEndedEverything(t *testing.T) {
	for _, sender := range []string{"", "agent/lead"} {
		a := newAgent(t, agent.Spec{})
		for _, e := range []agent.Event{
			agent.CircuitOpened{Cause: 1, Failures: 3, At: noon, ResetAt: noon.Add(time.Minute), Sender: sender},
			agent.CircuitClosed{Cause: 2, Handoff: "h2", Sender: sender, Outcome: agent.Accepted},
		} {
			a.State = agent.Fold(a.State, e)
		}
		if a.State.Circuit.PhaseAt(noon) != agent.Closed || len(a.State.SenderCircuits) != 0 {
			t.Errorf("%q: %+v", sender, a.State)
		}
	}
}
