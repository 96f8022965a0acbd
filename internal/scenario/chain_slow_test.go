//go:build slow || outside

package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestALevelThatCannotTakeItIsPassedOverAndATaskThatComesBackGoesOn(t *testing.T) {
	story(t, func(h *harness) {
		h.join("third", "stranger")
		h.register("second", agents.AgentSpec{MaxTasks: 1})
		h.register("first", agents.AgentSpec{Escalation: []string{"second", "third"}})
		h.create(h.agent("second"), tasks.CreateInput{Intent: "something else", Start: true}) // all that it can take
		h.settle()
		r := h.create(h.agent("first"), tasks.CreateInput{Intent: "a riddle", Start: true})
		up, err := h.escalate("first", r)
		if err != nil || up.To[0] != "third" {
			h.Fatalf("%+v, %v", up, err)
		}
		h.reject("third", h.wait("third"), event.Overloaded)
		if got := h.inState(r.Task, event.Waiting); got.Ticket == nil || got.Ticket.Desk != event.DeskOperators || got.Owner != "first" {
			h.Fatalf("nobody takes it, and nobody is asked: %+v", got.Ticket)
		}
		_, err = h.escalate("stranger", r)
		if refusal.CodeOf(err) != refusal.NotFound {
			h.Error(err)
		}
		lone := h.create(h.agent("third"), tasks.CreateInput{Intent: "alone", Start: true})
		if _, err := h.escalate("third", lone); refusal.CodeOf(err) != refusal.Invalid {
			h.Errorf("without a chain: %v", err)
		}
	})
}

func TestBehindACapabilityAndBehindAnOwnerThatIsStuckThereIsTheChainOfThePolicyToo(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead")
		h.register("bill", agents.AgentSpec{Capabilities: []string{"billing"}, MaxTasks: 1})
		h.register("sue", agents.AgentSpec{Capabilities: []string{"senior"}})
		h.adopt(`version: 1
chains:
  help: [{capability: senior}, {human: operators}]
escalation: {capabilities: {billing: help}}
`)
		h.create(h.agent("bill"), tasks.CreateInput{Intent: "something else", Start: true}) // all that it can take
		h.settle()
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "refund", Send: &handoffs.SendInput{Capability: "billing"}})
		if len(r.To) != 1 || r.To[0] != "sue" {
			h.Fatalf("not to the next level: %+v", r)
		}
		a := h.accept("sue", h.wait("sue"))
		if got := h.task(a.Task); got.Chain.Chain != "help" || got.Chain.Level != 1 {
			h.Errorf("its place in the chain: %+v", got.Chain)
		}

		held := h.create(h.agent("lead"), tasks.CreateInput{Intent: "invoice"})
		h.register("bill", agents.AgentSpec{Capabilities: []string{"billing"}})
		h.send(h.agent("lead"), held, handoffs.SendInput{Capability: "billing"})
		b := h.accept("bill", h.wait("bill"))
		stuck := ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Stuck(ctx(h), c, tasks.StuckInput{Task: b.Task, Detail: "silent since noon"})
		})
		if len(stuck.To) != 1 || stuck.To[0] != "sue" {
			h.Fatalf("who is stuck is not replaced along the chain: %+v", stuck)
		}
	})
}

func TestWhatAnAgentWithAChainOfItsOwnDoesNotAnswerGoesUpLevelByLevelToPeople(t *testing.T) {
	for _, to := range []handoffs.SendInput{{To: []string{"first"}}, {Capability: "sql"}, {To: []string{"first"}, Kind: event.Broadcast}} {
		story(t, func(h *harness) {
			h.join("lead", "second", "third")
			h.register("first", agents.AgentSpec{Capabilities: []string{"sql"}, Escalation: []string{"second", "third"}})
			h.settle()
			none := 0
			to.Retries, to.Timeouts = &none, event.Timeouts{Offer: event.Duration(time.Minute)}
			r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "a riddle", Send: &to})
			if c := h.task(r.Task).Chain; c.Chain != "" {
				h.Errorf("nobody was escalated to, and it stands at %+v", c)
			}
			for level, name := range []string{"second", "third"} {
				got := h.until(r.Task, "with "+name, func(t taskstore.Task) bool {
					return t.Handoff != nil && len(t.Handoff.To) == 1 && t.Handoff.To[0] == name
				})
				if got.Chain.Chain != "agent/first" || got.Chain.Level != level+1 || got.Used.Escalations != level+1 {
					h.Errorf("offered to %s at %+v, escalated %d times", name, got.Chain, got.Used.Escalations)
				}
			}
			got := h.inState(r.Task, event.Waiting)
			if k := got.Ticket; k == nil || k.Kind != event.TicketTakeover || k.Desk != event.DeskOperators {
				h.Errorf("no ticket for people: %+v", k)
			}
			if c := got.Chain; c.Chain != "agent/first" || c.Level != 3 {
				h.Errorf("it stands at %+v", c)
			}
		})
	}
}
