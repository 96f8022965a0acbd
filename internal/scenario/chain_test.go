package scenario

import (
	"fmt"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func (h *harness) escalate(by string, r taskstore.Receipt) (taskstore.Receipt, error) {
	h.Helper()
	return call(h.agent(by), func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.Escalate(ctx(h), c, tasks.EscalateInput{Task: r.Task, Epoch: r.Epoch, Detail: "beyond me"})
	})
}

func TestTenTasksWalkOneChainEachToItsEnd(t *testing.T) {
	story(t, func(h *harness) {
		h.join("second", "third")
		h.register("first", agents.AgentSpec{Escalation: []string{"second", "third"}})
		var tasksList []taskstore.Receipt
		for i := range 10 {
			tasksList = append(tasksList, h.create(h.agent("first"), tasks.CreateInput{Intent: fmt.Sprint("task ", i), Start: true}))
		}
		// All tasks are on one level before any of them moves to the next.
		for level, step := range [][2]string{{"first", "second"}, {"second", "third"}} {
			for i, r := range tasksList {
				h.progress(step[0], r, "tried what I can")
				up, err := h.escalate(step[0], r)
				if err != nil || len(up.To) != 1 || up.To[0] != step[1] {
					h.Fatalf("task %d, level %d: %+v, %v", i, level+1, up, err)
				}
				a := ok(h, h.agent(step[1]), func(c caller.Caller) (tasks.Accepted, error) {
					return h.app.Tasks.Accept(ctx(h), c, tasks.AcceptInput{Handoff: up.Handoff})
				})
				tasksList[i] = a.Receipt
			}
			for i, r := range tasksList {
				if c := h.task(r.Task).Chain; c.Chain != "agent/first" || c.Level != level+1 || c.Agent != step[1] {
					h.Errorf("task %d stands at %+v", i, c)
				}
			}
		}
		for i, r := range tasksList { // and there are people at the end
			h.progress("third", r, "tried what I can")
			up, err := h.escalate("third", r)
			if err != nil || up.State != event.Waiting {
				h.Fatalf("task %d: %+v, %v", i, up, err)
			}
			k := h.task(r.Task).Ticket
			if k == nil || k.Kind != event.TicketTakeover || k.Desk != event.DeskOperators {
				h.Errorf("task %d: no ticket for people: %+v", i, k)
			}
		}
	})
}

func TestALoopEndsWithItsReason(t *testing.T) {
	for _, round := range [][]string{{"ann", "bob"}, {"ann", "bob", "cyd"}} {
		story(t, func(h *harness) {
			h.join(round...)
			r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "a hot potato", Start: true})
			for i := 0; r.State != event.Parked; i++ {
				if i > 20 {
					h.Fatal("it goes round and round")
				}
				next := round[(i+1)%len(round)]
				r = h.send(h.agent(round[i%len(round)]), r, handoffs.SendInput{To: []string{next}})
				if r.State != event.Parked {
					r = h.accept(next, h.wait(next)).Receipt
				}
			}
			if r.Parked == nil || r.Parked.Cause != event.ParkLimit || r.Parked.Detail != "cycle: back to ann without progress, decision or result since" {
				h.Errorf("%+v", r.Parked)
			}
		})
	}
}

const chainRules = `version: 1
chains:
  help: [{capability: senior}, {human: operators}]
escalation: {default: help}
`

func TestBehindEveryHandoffAndEveryLostOwnerThereIsTheChainOfThePolicyAndPeople(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead")
		h.register("coder", agents.AgentSpec{MaxTasks: 1})
		h.register("sue", agents.AgentSpec{Capabilities: []string{"senior"}, MaxTasks: 1})
		h.adopt(chainRules)
		h.create(h.agent("coder"), tasks.CreateInput{Intent: "something else", Start: true}) // all that it can take
		h.settle()
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix", Timeouts: event.Timeouts{Lease: event.Duration(time.Hour)}, Start: true})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"coder"}})
		if len(r.To) != 1 || r.To[0] != "sue" {
			h.Fatalf("not to the next level: %+v", r)
		}
		a := h.accept("sue", h.wait("sue"))
		h.progress("sue", a.Receipt, "half way")
		got := h.until(r.Task, "at a desk", func(t taskstore.Task) bool { return t.Ticket != nil }) // sue is gone, and does not come back
		if got.State != event.Waiting || got.Ticket.Kind != event.TicketTakeover || got.Chain.Chain != "help" || got.Chain.Level != 2 {
			h.Errorf("%s, %+v, %+v", got.State, got.Ticket, got.Chain)
		}
	})
}

func TestAChainOfAnAgentEndsAtTheDepthOfTheTask(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "second", "third")
		h.register("first", agents.AgentSpec{MaxTasks: 1, Escalation: []string{"second", "third"}})
		h.create(h.agent("first"), tasks.CreateInput{Intent: "something else", Start: true}) // all that it can take
		h.settle()
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "a riddle", Limits: event.Limits{Escalations: 1}, Send: &handoffs.SendInput{
			To: []string{"first"}, Timeouts: event.Timeouts{Offer: event.Duration(time.Minute)},
		}})
		if len(r.To) != 1 || r.To[0] != "second" {
			h.Fatalf("not to the next level: %+v", r)
		}
		got := h.inState(r.Task, event.Waiting) // third would be one too many
		if got.Ticket == nil || got.Ticket.Desk != event.DeskOperators || got.Used.Escalations != 1 {
			h.Errorf("%+v, escalated %d times", got.Ticket, got.Used.Escalations)
		}
		for _, e := range h.events(r.Task) {
			if o, is := e.(event.OfferMade); is && o.To[0] == "third" {
				h.Errorf("offered to %v", o.To)
			}
		}
	})
}

func TestADelegatedChildGoesUpItsOwnChainWhileItsParentWaits(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "boss")
		zoe := h.person("zoe", event.DeskOperators)
		h.register("first", agents.AgentSpec{Escalation: []string{"boss"}})
		none := 0
		delegate := func(r taskstore.Receipt) (taskstore.Receipt, string) {
			h.Helper()
			r = h.send(h.agent("lead"), r, handoffs.SendInput{
				To: []string{"first"}, Kind: event.Delegation, Retries: &none, Timeouts: event.Timeouts{Offer: event.Duration(time.Minute)},
			})
			return r, r.Children[0]
		}
		stands := func(child string, level int) {
			h.Helper()
			got := h.until(child, fmt.Sprint("on level ", level), func(t taskstore.Task) bool { return t.Chain.Level == level })
			if got.Chain.Chain != "agent/first" {
				h.Errorf("the child stands at %+v", got.Chain)
			}
		}
		r, child := delegate(h.create(h.agent("lead"), tasks.CreateInput{Intent: "dig", Start: true}))
		a := h.accept("boss", h.wait("boss")) // first does not answer
		stands(child, 1)
		if p := h.task(r.Task); p.State != event.Waiting || p.Owner != "lead" || p.Chain.Chain != "" || p.Used.Escalations != 0 {
			h.Errorf("the parent: %s, owned by %s, at %+v", p.State, p.Owner, p.Chain)
		}
		h.complete("boss", a.Receipt, "dug")
		h.inState(r.Task, event.Executing)

		r, child = delegate(h.create(h.agent("lead"), tasks.CreateInput{Intent: "dig on", Start: true}))
		h.wait("boss")
		stands(child, 2) // nor does boss
		k := h.inState(child, event.Waiting).Ticket
		if k == nil || k.Desk != event.DeskOperators || h.task(r.Task).State != event.Waiting {
			h.Fatalf("nobody is asked for the child: %+v", k)
		}
		got, err := h.claim(zoe, event.TicketID(child, k.N))
		if err != nil {
			h.Fatal(err)
		}
		h.complete("zoe", got, "by hand")
		if p := h.inState(r.Task, event.Executing); p.Children[0].Result == nil || p.Children[0].Result.Text != "by hand" {
			h.Errorf("the parent has %+v", p.Children)
		}
	})
}
