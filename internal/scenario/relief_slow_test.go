//go:build slow || outside

package scenario

import (
	"fmt"
	"slices"
	"strings"
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

func TestAllThatAStuckAgentHoldsIsOfferedToOthers(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "backup")
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"backup"}})
		var tasksNames []string
		for i, by := range []string{"ann", "ann", "bob"} {
			r := h.create(h.agent(by), tasks.CreateInput{Intent: fmt.Sprint("task ", i), Send: &handoffs.SendInput{To: []string{"coder"}}})
			h.accept("coder", h.wait("coder"))
			tasksNames = append(tasksNames, r.Task)
			time.Sleep(time.Second)
		}
		h.settle()
		say := func(by caller.Caller) taskstore.Relief {
			return ok(h, by, func(c caller.Caller) (taskstore.Relief, error) {
				return h.app.Tasks.StuckAgent(ctx(h), c, tasks.StuckAgentInput{Agent: "coder"})
			})
		}
		moved := func(r taskstore.Relief) (ids []string) {
			for _, m := range r.Moved {
				ids = append(ids, m.Task)
			}
			return ids
		}
		if got := moved(say(h.agent("ann"))); !slices.Equal(got, tasksNames[:2]) {
			h.Errorf("what ann had asked for: %v of %v", got, tasksNames)
		}
		h.settle()
		if got := moved(say(h.operator())); !slices.Equal(got, tasksNames[2:]) {
			h.Errorf("what was left: %v", got)
		}
		for range tasksNames {
			h.accept("backup", h.wait("backup"))
			h.settle()
		}
	})
}

func TestAnOfferIsShedToAnAgentThatCanReadIt(t *testing.T) {
	story(t, func(h *harness) {
		can := []string{"lint"}
		h.join("lead")
		h.register("full", agents.AgentSpec{Capabilities: can})
		for _, name := range []string{"tiny1", "tiny2", "tiny3"} {
			h.register(name, agents.AgentSpec{Capabilities: can, ContextWindow: 500})
		}
		long := strings.Repeat("fix the long list of faults, ", 130)
		task := h.create(h.agent("lead"), tasks.CreateInput{Intent: long, Send: &handoffs.SendInput{To: []string{"full"}}}).Task
		h.settle()
		shed := func() taskstore.Relief {
			return ok(h, h.agent("full"), func(c caller.Caller) (taskstore.Relief, error) {
				return h.app.Tasks.ShedOffers(ctx(h), c, tasks.ShedInput{Agent: "full"})
			})
		}
		if r := shed(); len(r.Moved) != 0 || len(r.Kept) != 1 || !strings.Contains(r.Kept[0].Why, "tokens") {
			h.Errorf("%+v", r)
		}
		h.register("roomy", agents.AgentSpec{Capabilities: can, MaxTasks: 2, ContextWindow: 100_000}) // and has more to do than those
		h.create(h.agent("lead"), tasks.CreateInput{Intent: "lint", Send: &handoffs.SendInput{To: []string{"roomy"}}})
		h.settle()
		if r := shed(); len(r.Moved) != 1 || r.Moved[0].Task != task || !slices.Equal(r.Moved[0].To, []string{"roomy"}) {
			h.Errorf("%+v", r)
		}
	})
}

func TestAnAgentShedsTheLowestPriorityFirst(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "stranger")
		h.register("busy", agents.AgentSpec{Fallbacks: []string{"idle"}})
		h.register("idle", agents.AgentSpec{MaxTasks: 2})
		ids := map[event.Priority]string{}
		for _, p := range []event.Priority{event.Urgent, event.Low, event.High, event.Normal} {
			ids[p] = h.create(h.agent("lead"), tasks.CreateInput{Intent: string(p), Priority: p, Send: &handoffs.SendInput{To: []string{"busy"}}}).Task
		}
		h.settle()
		calls := 0
		shed := func(by caller.Caller, keep int) (taskstore.Relief, error) {
			calls = 0
			return call(by, func(c caller.Caller) (taskstore.Relief, error) {
				calls++
				return h.app.Tasks.ShedOffers(ctx(h), c, tasks.ShedInput{Agent: "busy", Keep: keep})
			})
		}
		if _, err := shed(h.agent("stranger"), 0); refusal.CodeOf(err) != refusal.NotPermitted {
			h.Error(err)
		}
		r, err := shed(h.agent("busy"), 1)
		one := calls == 1 // else the call before, whose outcome was unknown, has moved some
		if err != nil || one && (len(r.Moved) != 2 || r.Moved[0].Task != ids[event.Low] || r.Moved[1].Task != ids[event.Normal] || len(r.Kept) != 1) {
			h.Fatalf("%+v, %v", r, err) // idle has room for two
		}
		if got := h.offered("busy"); !slices.Equal(got, []string{ids[event.Urgent], ids[event.High]}) {
			h.Errorf("left: %v", got)
		}
		if got := h.offered("idle"); !slices.Contains(got, ids[event.Low]) || !slices.Contains(got, ids[event.Normal]) {
			h.Errorf("moved: %v", got)
		}
	})
}
