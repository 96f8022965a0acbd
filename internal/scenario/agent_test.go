package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// registering is a registration that must be refused as invalid.
func (h *harness) registering(name string, spec agents.AgentSpec) string {
	h.Helper()
	_, err := call(h.operator(), func(c caller.Caller) (agents.Agent, error) {
		return h.app.Agents.Register(ctx(h), c, agents.RegisterInput{Name: name, Spec: spec})
	})
	if refusal.CodeOf(err) != refusal.Invalid {
		h.Fatalf("%s: %v", name, err)
	}
	return err.Error()
}

func TestEscalationThatLeadsBackIsRefused(t *testing.T) {
	story(t, func(h *harness) {
		h.register("ann", agents.AgentSpec{Escalation: []string{"boss", "chief"}}) // who need not be there yet
		h.register("boss", agents.AgentSpec{Escalation: []string{"chair"}})
		if text := h.registering("chief", agents.AgentSpec{Escalation: []string{"ann"}}); !strings.Contains(text, "chief → ann → chief") {
			h.Error(text)
		}
		if text := h.registering("chair", agents.AgentSpec{Escalation: []string{"dee", "ann"}}); !strings.Contains(text, "chair → ann → boss → chair") {
			h.Error(text)
		}
		h.register("boss", agents.AgentSpec{})
		h.register("chair", agents.AgentSpec{Escalation: []string{"dee", "ann"}})
		h.register("chair", agents.AgentSpec{Escalation: []string{"dee", "ann"}}) // again
	})
}

func TestTwoAreFallbacksOfEachOtherAndATaskDoesNotGoRound(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead")
		h.register("ann", agents.AgentSpec{Fallbacks: []string{"bob"}})
		h.register("bob", agents.AgentSpec{Fallbacks: []string{"ann"}})
		h.ready("ann", agent.Busy)
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "one", Send: &handoffs.SendInput{To: []string{"ann"}}})
		if !slices.Equal(r.To, []string{"bob"}) {
			h.Errorf("%+v", r)
		}
		h.ready("bob", agent.Busy)
		if _, err := call(h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Create(ctx(h), c, &tasks.CreateInput{Intent: "two", Send: &handoffs.SendInput{To: []string{"ann"}}})
		}); refusal.CodeOf(err) != refusal.Unavailable {
			h.Errorf("%v", err)
		}
		h.ready("ann", agent.Ready)
		h.ready("bob", agent.Ready)
		h.accept("bob", h.wait("bob")) // and shows no life, and neither does the next owner
		owners := 0
		for range 8 {
			var now taskstore.Task
			h.until(r.Task, "in recovery or over", func(t taskstore.Task) bool {
				now = t
				return t.State == event.Parked || t.InFlight() != nil
			})
			if now.State == event.Parked {
				break
			}
			next := now.Handoff.To[0]
			h.accept(next, h.waitFor(next, func(i view.Item) bool { return i.Type == view.ItemOffer && i.Task == r.Task }))
			owners++
		}
		if now := h.task(r.Task); now.State != event.Parked || owners != now.Limits.Attempts {
			h.Errorf("%s after %d owners", now.State, owners)
		}
	})
}
