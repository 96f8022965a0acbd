package registry_test

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
)

func says(by registry.By, r registry.Readiness) registry.SetReadiness {
	return registry.SetReadiness{Name: "writer", Readiness: r, By: by}
}

const changed = "agent-readiness-changed"

func TestWhomAnOperatorDrainedOnlyAnOperatorMakesReady(t *testing.T) {
	for _, off := range []registry.Readiness{registry.Busy, registry.Draining, registry.Offline} {
		a := newAgent(t, registry.Spec{})
		a.do(says(registry.ByOperator, off), changed)
		if r := a.refused(says(registry.ByAgent, registry.Ready), refusal.Conflict); r.Hint == "" {
			t.Error("no hint")
		}
		a.is(off)
		a.do(says(registry.ByAgent, registry.Offline), map[bool][]string{false: {changed}}[off == registry.Offline]...)
		a.refused(says(registry.ByAgent, registry.Ready), refusal.Conflict)
		a.do(registry.Register{Name: "writer", Spec: registry.Spec{Description: "new"}}, "agent-updated")
		a.refused(says(registry.ByAgent, registry.Ready), refusal.Conflict)
		a.do(says(registry.ByOperator, registry.Ready), changed)
		a.do(says(registry.ByAgent, registry.Busy), changed)
		a.do(says(registry.ByAgent, registry.Ready), changed)
		a.is(registry.Ready)
	}
}

func TestAnOperatorsWordOnTopOfTheAgentsOwnCounts(t *testing.T) {
	a := newAgent(t, registry.Spec{})
	a.do(says(registry.ByAgent, registry.Draining), changed)
	a.do(says(registry.ByOperator, registry.Draining), changed)
	a.do(says(registry.ByOperator, registry.Draining))
	a.refused(says(registry.ByAgent, registry.Ready), refusal.Conflict)
}

func TestHeartbeatsDoNotBringAnAgentBackOnDuty(t *testing.T) {
	a := newAgent(t, registry.Spec{PresenceTTL: time.Second})
	a.do(says(registry.ByOperator, registry.Draining), changed)
	a.now = a.now.Add(time.Minute)
	a.do(registry.LapsePresence{Name: "writer", LastHeard: noon}, "agent-presence-lapsed")
	a.refused(says(registry.ByAgent, registry.Ready), refusal.Conflict)
	a.do(registry.ReturnPresence{Name: "writer"}, "agent-presence-returned")
	a.is(registry.Draining)
	a.refused(says(registry.ByAgent, registry.Ready), refusal.Conflict)
}

func TestTheNextLifeOfAnAgentBeginsOnDuty(t *testing.T) {
	a := newAgent(t, registry.Spec{})
	a.do(says(registry.ByOperator, registry.Offline), changed)
	a.do(registry.Remove{Name: "writer"}, "agent-removed")
	a.do(registry.Register{Name: "writer"}, "agent-registered")
	a.is(registry.Ready)
	a.do(says(registry.ByAgent, registry.Busy), changed)
	a.do(says(registry.ByAgent, registry.Ready), changed)
}

func TestAWordOfAnAgentThatWasTakenOnceStaysTaken(t *testing.T) {
	s := newAgent(t, registry.Spec{}).state
	for _, e := range []registry.Event{ // as a record from before there were duties has it
		registry.ReadinessChanged{From: registry.Ready, To: registry.Draining, By: registry.ByOperator},
		registry.ReadinessChanged{From: registry.Draining, To: registry.Ready, By: registry.ByAgent},
	} {
		s = registry.Fold(s, e)
	}
	if s.Readiness() != registry.Ready || s.Duty() != registry.OnDuty {
		t.Errorf("%s, %s", s.Readiness(), s.Duty())
	}
	s = registry.Fold(s, registry.ReadinessChanged{From: registry.Ready, To: registry.Offline, By: "system"})
	if s.Readiness() != registry.Offline || s.Duty() != registry.OnDuty {
		t.Errorf("by an author that there is no more: %s, %s", s.Readiness(), s.Duty())
	}
}

func TestTheTableOfDutiesHasEveryCombinationOnce(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, r := range registry.DutyTable {
		key := [2]string{string(r.In), string(r.On)}
		if seen[key] {
			t.Errorf("%v is there twice", key)
		}
		seen[key] = true
	}
	if len(seen) != 2*4 {
		t.Errorf("%d combinations", len(seen))
	}
	for _, r := range registry.DutyTable { // and Decide does what it says
		a := newAgent(t, registry.Spec{})
		if r.In == registry.OffDuty {
			a.do(says(registry.ByOperator, registry.Busy), changed)
		}
		c := map[registry.Word]registry.SetReadiness{
			registry.ReadyByAgent: says(registry.ByAgent, registry.Ready), registry.ElseByAgent: says(registry.ByAgent, registry.Offline),
			registry.ReadyByOperator: says(registry.ByOperator, registry.Ready), registry.ElseByOperator: says(registry.ByOperator, registry.Offline),
		}[r.On]
		events, err := registry.Decide(a.state, c, a.now)
		if (err == nil) != r.Taken {
			t.Errorf("%s, %s: %v", r.In, r.On, err)
		}
		for _, e := range events {
			a.state = registry.Fold(a.state, e)
		}
		if want := r.Become; r.Taken && a.state.Duty() != want {
			t.Errorf("%s, %s: becomes %s", r.In, r.On, a.state.Duty())
		}
	}
}
