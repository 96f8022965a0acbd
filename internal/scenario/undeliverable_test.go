package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// A task that cannot be offered must not keep others waiting: everything that crosses tasks goes through one courier.
func TestATaskThatCannotBeOfferedIsOfferedLaterAndDelaysNoOther(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "builder", "tester", "other")
		first := h.create(h.agent("lead"), tasks.CreateInput{Intent: "build", Send: &handoffs.SendInput{To: []string{"builder"}}})
		then := h.create(h.agent("lead"), tasks.CreateInput{Intent: "test", Dependencies: []string{first.Task}, Route: []string{"tester"}})
		ok(h, h.operator(), func(c caller.Caller) (agents.Agent, error) {
			return h.app.Agents.SetReadiness(ctx(h), c, agents.ReadinessInput{Name: "tester", Readiness: agent.Offline})
		})
		h.complete("builder", h.accept("builder", h.wait("builder")).Receipt, "built")
		// The courier has more to do.
		p := h.create(h.agent("lead"), tasks.CreateInput{Intent: "ask", Start: true})
		h.send(h.agent("lead"), p, handoffs.SendInput{To: []string{"other"}, Kind: event.Delegation})
		start := time.Now()
		h.complete("other", h.accept("other", h.wait("other")).Receipt, "answered")
		h.inState(p.Task, event.Executing)
		if took := time.Since(start); took > time.Minute {
			h.Errorf("a task whose receiver was offline held others up for %s", took)
		}
		// Its receiver may come back; if not, the dead letters have it.
		h.inState(then.Task, event.Parked)
	})
}

func TestATaskWhoseRouteNamesNoAgentIsParked(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "builder")
		first := h.create(h.agent("lead"), tasks.CreateInput{Intent: "build", Send: &handoffs.SendInput{To: []string{"builder"}}})
		then := h.create(h.agent("lead"), tasks.CreateInput{Intent: "test", Dependencies: []string{first.Task}, Route: []string{"nobody"}})
		h.complete("builder", h.accept("builder", h.wait("builder")).Receipt, "built")
		h.inState(then.Task, event.Parked)
	})
}
