package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func TestASilentAgentGoesOfflineAndComesBack(t *testing.T) {
	story(t, func(h *harness) {
		h.register("ann", agents.AgentSpec{PresenceTTL: event.Duration(30 * time.Second)})
		h.readiness("ann", agent.Offline)
		if err := h.app.Agents.Beat(ctx(h), h.agent("ann")); err != nil && refusal.CodeOf(err) != refusal.Unknown {
			h.Fatal(err)
		}
		h.readiness("ann", agent.Ready)
	})
}

// readiness waits until an agent has a readiness.
func (h *harness) readiness(name string, want agent.Readiness) {
	h.Helper()
	for range 1200 {
		a, err := h.app.Agents.Show(ctx(h), h.operator(), name)
		if err != nil {
			h.Fatal(err)
		}
		if a.Readiness == want {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	h.Fatalf("%s never came to be %s", name, want)
}

func TestADrainedAgentDoesNotPutItselfBackOnDuty(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "backup")
		h.register("bob", agents.AgentSpec{Fallbacks: []string{"backup"}, PresenceTTL: event.Duration(30 * time.Second)})
		say := func(by caller.Caller, r agent.Readiness) (agents.Agent, error) {
			return call(by, func(c caller.Caller) (agents.Agent, error) {
				return h.app.Agents.SetReadiness(ctx(h), c, agents.ReadinessInput{Name: "bob", Readiness: r})
			})
		}
		if a, err := say(h.operator(), agent.Draining); err != nil || !a.OffDuty {
			h.Fatalf("%+v, %v", a, err)
		}
		no(h, h.agent("bob"), refusal.Conflict, func(c caller.Caller) (agents.Agent, error) {
			return h.app.Agents.SetReadiness(ctx(h), c, agents.ReadinessInput{Name: "bob", Readiness: agent.Ready})
		})
		for range 4 { // its heartbeats still count
			time.Sleep(20 * time.Second)
			if _, err := call(h.agent("bob"), func(c caller.Caller) (struct{}, error) { return struct{}{}, h.app.Agents.Beat(ctx(h), c) }); err != nil {
				h.Fatal(err)
			}
		}
		a, err := h.app.Agents.Show(ctx(h), h.operator(), "bob")
		if err != nil || a.Readiness != agent.Draining {
			h.Fatalf("after its heartbeats: %+v, %v", a, err)
		}
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "not for bob", Send: &handoffs.SendInput{To: []string{"bob"}}})
		if len(r.To) != 1 || r.To[0] != "backup" {
			h.Errorf("a drained agent was passed over for %v", r.To)
		}
		if a, err := say(h.operator(), agent.Ready); err != nil || a.OffDuty || a.Readiness != agent.Ready {
			h.Fatalf("%+v, %v", a, err)
		}
		if _, err := say(h.agent("bob"), agent.Ready); err != nil {
			h.Error(err)
		}
	})
}
