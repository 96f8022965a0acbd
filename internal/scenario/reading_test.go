package scenario

import (
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// readers is how many calls of one agent ask for the same content at once.
const readers = 8

func TestAFallbackIsNotGivenWhatNamesTheReceiverBeforeIt(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann")
		h.register("bob", agents.AgentSpec{ContextWindow: 8000, Fallbacks: []string{"cyd"}})
		h.register("cyd", agents.AgentSpec{ContextWindow: 8000})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "the build is red", Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		h.reject("bob", h.wait("bob"), event.Overloaded)
		got := h.acceptPrompt("cyd")
		if doc := packed(h, *got.Content); !slices.Equal(doc.Handoff.To, []string{"cyd"}) {
			h.Errorf("cyd was given what is for %q", doc.Handoff.To)
		}
	})
}
