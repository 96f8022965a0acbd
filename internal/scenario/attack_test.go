package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestAnAgentCannotGiveItselfCapabilities(t *testing.T) {
	story(t, func(h *harness) {
		h.register("eve", agents.AgentSpec{Capabilities: []string{"lint"}})
		register := func(spec agents.AgentSpec) error {
			_, err := call(h.agent("eve"), func(c caller.Caller) (agents.Agent, error) {
				return h.app.Agents.Register(ctx(h), c, agents.RegisterInput{Name: "eve", Spec: spec})
			})
			return err
		}
		if err := register(agents.AgentSpec{Capabilities: []string{"lint", "payroll"}}); refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("eve can do payroll now: %v", err)
		}
		if err := register(agents.AgentSpec{Capabilities: []string{"lint"}, Description: "lints"}); err != nil {
			h.Errorf("eve may say more of itself: %v", err)
		}
	})
}

func TestAStrangerGetsNoTaskWhoseOwnerIsLost(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "eve", "backup")
		h.register("bob", agents.AgentSpec{Fallbacks: []string{"backup"}})
		r := h.create(h.agent("ann"), tasks.CreateInput{
			Intent: "private", Timeouts: event.Timeouts{Lease: event.Duration(time.Minute)},
			Send: &handoffs.SendInput{To: []string{"bob"}},
		})
		h.accept("bob", h.wait("bob"))
		h.until(r.Task, "in recovery", func(t taskstore.Task) bool { return t.Handoff.Recovery })
		take := func(name string) taskstore.Receipt {
			return ok(h, h.agent(name), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Takeover(ctx(h), c, tasks.TakeoverInput{Task: r.Task})
			})
		}
		for _, id := range []string{r.Task, "task_00000000000000000000000001"} { // nothing tells them apart
			_, err := call(h.agent("eve"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Takeover(ctx(h), c, tasks.TakeoverInput{Task: id})
			})
			if refusal.CodeOf(err) != refusal.NotFound {
				h.Errorf("eve asks for %s: %v", id, err)
			}
		}
		if got := take("backup"); got.Owner != "backup" {
			h.Errorf("the fallback got %+v", got)
		}
	})
}

func TestNobodyApprovesWhatItIsToReceive(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "deploy", Start: true})
		_, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Send(ctx(h), c, handoffs.SendInput{Task: r.Task, Epoch: r.Epoch, To: []string{"bob"}, Kind: event.Supervised, Approver: "bob"})
		})
		if refusal.CodeOf(err) != refusal.Invalid {
			h.Errorf("bob approves for itself: %v", err)
		}
	})
}

func TestADelegationBackWithADecisionIsWork(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "build", Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Kind: event.Delegation})
		b := h.accept("bob", h.wait("bob"))
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{
			To: []string{"ann"}, Kind: event.Delegation,
			Content: envelopes.Content{Ask: "confirm the interface", Decisions: []envelopes.Point{{Text: "use JSON"}}},
		})
		h.complete("ann", h.accept("ann", h.wait("ann")).Receipt, "fine")
		h.inState(b.Task, event.Executing)
	})
}
