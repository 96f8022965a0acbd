package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/roster"
)

func TestAnAgentCannotGiveItselfCapabilities(t *testing.T) {
	story(t, func(h *house) {
		h.register("eve", roster.AgentSpec{Capabilities: []string{"lint"}})
		register := func(spec roster.AgentSpec) error {
			_, err := call(h.agent("eve"), func(c app.Caller) (roster.Agent, error) {
				return h.app.Register(ctx(h), c, roster.RegisterInput{Name: "eve", Spec: spec})
			})
			return err
		}
		if err := register(roster.AgentSpec{Capabilities: []string{"lint", "payroll"}}); refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("eve can do payroll now: %v", err)
		}
		if err := register(roster.AgentSpec{Capabilities: []string{"lint"}, Description: "lints"}); err != nil {
			h.Errorf("eve may say more of itself: %v", err)
		}
	})
}

func TestAStrangerGetsNoTaskWhoseOwnerIsLost(t *testing.T) {
	story(t, func(h *house) {
		h.join("ann", "eve", "backup")
		h.register("bob", roster.AgentSpec{Fallbacks: []string{"backup"}})
		r := h.create(h.agent("ann"), app.CreateInput{
			Intent: "private", Timeouts: fact.Timeouts{Lease: fact.Duration(time.Minute)},
			Send: &app.SendInput{To: []string{"bob"}},
		})
		h.accept("bob", h.wait("bob"))
		h.until(r.Task, "in recovery", func(t docket.Task) bool { return t.Handoff.Recovery })
		take := func(name string) docket.Receipt {
			return ok(h, h.agent(name), func(c app.Caller) (docket.Receipt, error) {
				return h.app.Takeover(ctx(h), c, app.TakeoverInput{Task: r.Task})
			})
		}
		if got := take("eve"); got.Ask == "" || got.Owner != "" {
			h.Errorf("eve got %+v: she may ask, and no more", got)
		}
		if got := take("backup"); got.Owner != "backup" {
			h.Errorf("the fallback got %+v", got)
		}
	})
}

func TestNobodyApprovesWhatItIsToReceive(t *testing.T) {
	story(t, func(h *house) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), app.CreateInput{Intent: "deploy", Start: true})
		_, err := call(h.agent("ann"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Send(ctx(h), c, app.SendInput{Task: r.Task, Epoch: r.Epoch, To: []string{"bob"}, Kind: fact.Supervised, Approver: "bob"})
		})
		if refusal.CodeOf(err) != refusal.Invalid {
			h.Errorf("bob approves for itself: %v", err)
		}
	})
}

func TestADelegationBackWithADecisionIsWork(t *testing.T) {
	story(t, func(h *house) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), app.CreateInput{Intent: "build", Start: true})
		h.send(h.agent("ann"), r, app.SendInput{To: []string{"bob"}, Kind: fact.Delegation})
		b := h.accept("bob", h.wait("bob"))
		h.send(h.agent("bob"), b.Receipt, app.SendInput{
			To: []string{"ann"}, Kind: fact.Delegation,
			Content: app.Content{Ask: "confirm the interface", Decisions: []app.Point{{Text: "use JSON"}}},
		})
		h.complete("ann", h.accept("ann", h.wait("ann")).Receipt, "fine")
		h.inState(b.Task, fact.Executing)
	})
}
