package scenario

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// fail makes an agent leave an offer unanswered until the task is parked.
func (h *harness) fail(from, deaf string) {
	h.Helper()
	none := 0
	r := h.create(h.agent(from), tasks.CreateInput{Intent: "anybody?", Send: &handoffs.SendInput{To: []string{deaf}, Retries: &none}})
	h.waitFor(deaf, func(i view.Item) bool { return i.Task == r.Task })
	h.inState(r.Task, event.Parked)
}

// circuit waits for an agent's shared circuit to be in a state.
func (h *harness) circuit(name string, want agent.Phase) {
	h.Helper()
	h.circuitOf(name, want, func(a agents.Agent) agent.Phase { return a.Circuit.State })
}

// pair waits for the circuit between a sender and an agent to be in a state, while the shared one stays closed.
func (h *harness) pair(sender, name string, want agent.Phase) {
	h.Helper()
	h.circuitOf(name, want, func(a agents.Agent) agent.Phase {
		if a.Circuit.State != agent.Closed {
			h.Fatalf("the shared circuit of %s is %s", name, a.Circuit.State)
		}
		for _, p := range a.SenderCircuits {
			if p.Sender == sender {
				return p.State
			}
		}
		return agent.Closed
	})
}

// lets waits for the circuits between a sender and an agent to let offers through again: they are closed or, after an accepted probe, on trial.
func (h *harness) lets(sender, name string) {
	h.Helper()
	h.circuitOf(name, agent.Closed, func(a agents.Agent) agent.Phase {
		c := a.Circuit
		for _, p := range a.SenderCircuits {
			if p.Sender == sender {
				c = p.Circuit
			}
		}
		if c.State == agent.HalfOpen && c.Failures < a.Spec.Breaker.Failures {
			return agent.Closed
		}
		return c.State
	})
}

func (h *harness) circuitOf(name string, want agent.Phase, of func(agents.Agent) agent.Phase) {
	h.Helper()
	for range 100 {
		a, err := h.app.Agents.Show(ctx(h), h.operator(), name)
		if err != nil {
			h.Fatal(err)
		}
		if of(a) == want {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	h.Fatalf("the circuit of %s never came to be %s", name, want)
}

func TestABreakerOpensRoutesAroundHalfOpensAndCloses(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "backup")
		h.register("flaky", agents.AgentSpec{Fallbacks: []string{"backup"}})
		for range 3 {
			none := 0
			r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "try", Send: &handoffs.SendInput{To: []string{"flaky"}, Retries: &none}})
			h.waitFor("flaky", func(i view.Item) bool { return i.Task == r.Task })
			h.complete("backup", h.accept("backup", h.waitFor("backup", func(i view.Item) bool { return i.Task == r.Task })).Receipt, "mine")
		}
		h.pair("lead", "flaky", agent.Open)
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "around", Send: &handoffs.SendInput{To: []string{"flaky"}}})
		if len(r.To) != 1 || r.To[0] != "backup" {
			h.Fatalf("routed to %v", r.To)
		}
		time.Sleep(61 * time.Second)
		r = h.create(h.agent("lead"), tasks.CreateInput{Intent: "probe", Send: &handoffs.SendInput{To: []string{"flaky"}}})
		if len(r.To) != 1 || r.To[0] != "flaky" {
			h.Fatalf("the probe went to %v", r.To)
		}
		other := h.create(h.agent("lead"), tasks.CreateInput{Intent: "not the probe", Send: &handoffs.SendInput{To: []string{"flaky"}}})
		if other.To[0] != "backup" {
			h.Fatalf("a second handoff went to %v while the probe was out", other.To)
		}
		h.accept("flaky", h.waitFor("flaky", func(i view.Item) bool { return i.Task == r.Task }))
		h.lets("lead", "flaky")
	})
}

func TestABreakerOpensRoutesAroundHalfOpensAndClosesAcrossRestarts(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h, stop := reopen(t, dir)
		restart := func() {
			stop()
			h, stop = reopen(t, dir)
		}
		defer func() { stop() }()
		sent := func(intent string) taskstore.Receipt {
			return h.create(h.agent("lead"), tasks.CreateInput{Intent: intent, Send: &handoffs.SendInput{To: []string{"flaky"}}})
		}
		h.join("lead", "flaky", "backup")
		for range 3 {
			h.fail("lead", "flaky")
		}
		h.pair("lead", "flaky", agent.Open)
		restart()
		_, err := h.app.Tasks.Create(ctx(h), h.agent("lead"), &tasks.CreateInput{Intent: "again", Send: &handoffs.SendInput{To: []string{"flaky"}}})
		if refusal.CodeOf(err) != refusal.CircuitOpen {
			t.Errorf("after the restart: %v", err)
		}
		h.register("flaky", agents.AgentSpec{Fallbacks: []string{"backup"}})
		if r := sent("around"); len(r.To) != 1 || r.To[0] != "backup" {
			t.Errorf("routed to %v", r.To)
		}
		restart()
		time.Sleep(61 * time.Second)
		h.pair("lead", "flaky", agent.HalfOpen)
		probe := sent("probe")
		restart()
		if r := sent("not the probe"); probe.To[0] != "flaky" || r.To[0] != "backup" {
			t.Errorf("the probe went to %v, another to %v", probe.To, r.To)
		}
		h.accept("flaky", h.waitFor("flaky", func(i view.Item) bool { return i.Task == probe.Task }))
		h.lets("lead", "flaky")
		restart()
		if r := sent("as ever"); r.To[0] != "flaky" {
			t.Errorf("with its circuit closed it went to %v", r.To)
		}
	})
}

func TestOneSlowHandoffIsOneFailure(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "slow")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "think about it", Send: &handoffs.SendInput{To: []string{"slow"}}})
		for offer := 1; offer <= 4; offer++ { // the first and three retries, each seen and not answered
			h.waitFor("slow", func(i view.Item) bool { return i.Task == r.Task && i.Offer == offer })
		}
		h.inState(r.Task, event.Parked)
		a, err := h.app.Agents.Show(ctx(h), h.operator(), "slow")
		if err != nil || a.Circuit.State != agent.Closed || a.Circuit.Failures != 1 {
			h.Fatalf("after one slow handoff: %+v, %v", a.Circuit, err)
		}
		for range 2 { // other handoffs are other failures
			h.fail("lead", "slow")
		}
		h.pair("lead", "slow", agent.Open)
	})
}
