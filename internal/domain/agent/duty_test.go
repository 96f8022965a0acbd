package agent_test

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

var (
	writer   = identity.Principal{Role: identity.Agent, Name: "writer"}
	operator = identity.Principal{Role: identity.Operator, Name: "ann"}
)

func says(by identity.Principal, r agent.Readiness) agent.SetReadiness {
	return agent.SetReadiness{Name: "writer", Readiness: r, By: by}
}

const changed = "agent-readiness-changed"

func TestWhomAnOperatorDrainedOnlyAnOperatorMakesReady(t *testing.T) {
	for _, off := range []agent.Readiness{agent.Busy, agent.Draining, agent.Offline} {
		a := newAgent(t, agent.Spec{})
		a.Do(says(operator, off), changed)
		if r := a.Refused(says(writer, agent.Ready), refusal.Conflict); r.Hint == "" {
			t.Error("no hint")
		}
		a.is(off)
		a.Do(says(writer, agent.Offline), map[bool][]string{false: {changed}}[off == agent.Offline]...)
		a.Refused(says(writer, agent.Ready), refusal.Conflict)
		a.Do(agent.Register{Name: "writer", Spec: agent.Spec{Description: "new"}}, "agent-updated")
		a.Refused(says(writer, agent.Ready), refusal.Conflict)
		a.Do(says(operator, agent.Ready), changed)
		a.Do(says(writer, agent.Busy), changed)
		a.Do(says(writer, agent.Ready), changed)
		a.is(agent.Ready)
	}
}

func TestAnOperatorsWordOnTopOfTheAgentsOwnCounts(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.Do(says(writer, agent.Draining), changed)
	a.Do(says(operator, agent.Draining), changed)
	a.Do(says(operator, agent.Draining))
	a.Refused(says(writer, agent.Ready), refusal.Conflict)
}

func TestHeartbeatsDoNotBringAnAgentBackOnDuty(t *testing.T) {
	a := newAgent(t, agent.Spec{PresenceTTL: time.Second})
	a.Do(says(operator, agent.Draining), changed)
	a.Now = a.Now.Add(time.Minute)
	a.Do(agent.LapsePresence{Name: "writer", LastHeard: noon}, "agent-presence-lapsed")
	a.Refused(says(writer, agent.Ready), refusal.Conflict)
	a.Do(agent.ReturnPresence{Name: "writer"}, "agent-presence-returned")
	a.is(agent.Draining)
	a.Refused(says(writer, agent.Ready), refusal.Conflict)
}

func TestTheNextLifeOfAnAgentBeginsOnDuty(t *testing.T) {
	a := newAgent(t, agent.Spec{})
	a.Do(says(operator, agent.Offline), changed)
	a.Do(agent.Remove{Name: "writer"}, "agent-removed")
	a.Do(agent.Register{Name: "writer"}, "agent-registered")
	a.is(agent.Ready)
	next := writer
	next.Name = "writer~2"
	a.Refused(says(writer, agent.Busy), refusal.NotPermitted)
	a.Do(says(next, agent.Busy), changed)
	a.Do(says(next, agent.Ready), changed)
}

func TestAWordOfAnAgentThatWasTakenOnceStaysTaken(t *testing.T) {
	s := newAgent(t, agent.Spec{}).State
	for _, e := range []agent.Event{ // as a record from before there were duties has it
		agent.ReadinessChanged{From: agent.Ready, To: agent.Draining, By: agent.ByOperator},
		agent.ReadinessChanged{From: agent.Draining, To: agent.Ready, By: agent.ByAgent},
	} {
		s = agent.Fold(s, e)
	}
	if s.Readiness() != agent.Ready || s.Duty() != agent.OnDuty {
		t.Errorf("%s, %s", s.Readiness(), s.Duty())
	}
	s = agent.Fold(s, agent.ReadinessChanged{From: agent.Ready, To: agent.Offline, By: "system"})
	if s.Readiness() != agent.Offline || s.Duty() != agent.OnDuty {
		t.Errorf("by an author that there is no more: %s, %s", s.Readiness(), s.Duty())
	}
}

func TestTheTableOfDutiesHasEveryCombinationOnce(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, r := range agent.DutyTable {
		key := [2]string{string(r.In), string(r.On)}
		if seen[key] {
			t.Errorf("%v is there twice", key)
		}
		seen[key] = true
	}
	if len(seen) != 2*4 {
		t.Errorf("%d combinations", len(seen))
	}
	for _, r := range agent.DutyTable { // and Decide does what it says
		a := newAgent(t, agent.Spec{})
		if r.In == agent.OffDuty {
			a.Do(says(operator, agent.Busy), changed)
		}
		c := map[agent.DutyTrigger]agent.SetReadiness{
			agent.ReadyByAgent: says(writer, agent.Ready), agent.ElseByAgent: says(writer, agent.Offline),
			agent.ReadyByOperator: says(operator, agent.Ready), agent.ElseByOperator: says(operator, agent.Offline),
		}[r.On]
		events, err := agent.Decide(a.State, c, a.Now)
		if (err == nil) != r.Taken {
			t.Errorf("%s, %s: %v", r.In, r.On, err)
		}
		for _, e := range events {
			a.State = agent.Fold(a.State, e)
		}
		if want := r.Become; r.Taken && a.State.Duty() != want {
			t.Errorf("%s, %s: becomes %s", r.In, r.On, a.State.Duty())
		}
	}
}
