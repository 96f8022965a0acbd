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
		if err := h.app.Agents.Beat(ctx(h), h.agent("ann"), true); err != nil && refusal.CodeOf(err) != refusal.Unknown {
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
			if _, err := call(h.agent("bob"), func(c caller.Caller) (struct{}, error) { return struct{}{}, h.app.Agents.Beat(ctx(h), c, true) }); err != nil {
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

func TestATaskForAnAgentThatIsNotRunningWaitsForIt(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "backup", "bob")
		h.register("solo", agents.AgentSpec{Capabilities: []string{"solo"}})
		h.register("cover", agents.AgentSpec{Fallbacks: []string{"backup"}})
		for _, name := range []string{"solo", "cover", "bob"} {
			h.ready(name, agent.Offline)
		}
		for to, want := range map[string]string{"solo": "solo", "cover": "backup"} {
			r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "for " + to, Send: &handoffs.SendInput{To: []string{to}}})
			if len(r.To) != 1 || r.To[0] != want {
				h.Errorf("to %s: offered to %v", to, r.To)
			}
		}
		able := h.create(h.agent("lead"), tasks.CreateInput{Intent: "for a soloist", Send: &handoffs.SendInput{Capability: "solo"}})
		if len(able.To) != 1 || able.To[0] != "solo" {
			h.Errorf("to the capability: offered to %v", able.To)
		}
		h.ready("solo", agent.Ready) // it is started again
		if got := h.accept("solo", h.wait("solo")); got.State != "executing" {
			h.Errorf("%+v", got)
		}
		ok(h, h.operator(), func(c caller.Caller) (agents.Agent, error) { // off duty: it does not come back by itself
			return h.app.Agents.SetReadiness(ctx(h), c, agents.ReadinessInput{Name: "bob", Readiness: agent.Offline})
		})
		no(h, h.agent("lead"), refusal.Unavailable, func(c caller.Caller) (any, error) {
			return h.app.Tasks.Create(ctx(h), c, &tasks.CreateInput{Intent: "for bob", Send: &handoffs.SendInput{To: []string{"bob"}}})
		})
	})
}

func TestAnAgentThatWaitsForItsInboxIsPresentUntilItStops(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "looks", "lead")
		inbox := func(name string, wait time.Duration) {
			if _, err := call(h.agent(name), func(c caller.Caller) (any, error) {
				return h.app.Tasks.Inbox(ctx(h), c, tasks.InboxInput{Wait: wait})
			}); err != nil {
				h.Fatal(err)
			}
		}
		for range 20 { // for ten minutes
			inbox("ann", 30*time.Second)
		}
		inbox("looks", 0)
		h.readiness("ann", agent.Ready)
		a, err := h.app.Agents.Show(ctx(h), h.operator(), "ann")
		if err != nil || time.Duration(a.Spec.PresenceTTL) != agent.DefaultPresence {
			h.Fatalf("%+v, %v", a, err)
		}
		time.Sleep(agent.DefaultPresence - time.Minute)
		h.readiness("ann", agent.Ready) // it may think between two calls
		time.Sleep(time.Minute + 10*time.Second)
		h.readiness("ann", agent.Offline)
		h.readiness("looks", agent.Ready) // it was never connected
		inbox("ann", time.Second)
		h.readiness("ann", agent.Ready)
	})
}
