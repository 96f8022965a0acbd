//go:build slow || outside

package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func TestAPersonIsGivenTime(t *testing.T) {
	story(t, func(h *harness) {
		h.join("coder")
		h.register("dora", agents.AgentSpec{Kind: agent.KindHuman, Capabilities: []string{"contracts"}})
		r := h.create(h.agent("coder"), tasks.CreateInput{Intent: "may we sign this?", Start: true})
		h.send(h.agent("coder"), r, handoffs.SendInput{To: []string{"dora"}})
		item := h.wait("dora")     // who has seen it now
		time.Sleep(20 * time.Hour) // and sleeps on it
		a := h.accept("dora", item)
		time.Sleep(20 * time.Hour)
		if got := h.task(r.Task); got.Owner != "dora" || got.State != event.Executing {
			h.Fatalf("%s, %s", got.Owner, got.State)
		}
		h.complete("dora", a.Receipt, "no")
		if s := h.standing("dora"); s.Circuit.Failures > 0 {
			h.Errorf("a person's circuit: %+v", s.Circuit)
		}
	})
}
