//go:build slow || outside

package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

const crowd = 8

func TestOfManyRejectionsOneLeadsToAHalfOpenAgent(t *testing.T) {
	halfOpenStory(t, func(h *harness) {
		h.join("lead", "first")
		h.halfOpen("flaky")
		before := h.offers("flaky")
		for range crowd {
			h.create(h.agent("lead"), tasks.CreateInput{Intent: "try", Start: true, Send: &handoffs.SendInput{To: []string{"first", "flaky"}}})
		}
		h.settle()
		box, err := call(h.agent("first"), func(c caller.Caller) (view.Inbox, error) {
			return h.app.Tasks.Inbox(ctx(h), c, tasks.InboxInput{Peek: true})
		})
		if err != nil || len(box.Items) != crowd {
			h.Fatalf("%d items, %v", len(box.Items), err)
		}
		together(crowd, func(i int) { h.reject("first", box.Items[i], event.Overloaded) })
		task := h.oneMore("flaky", before)
		for _, item := range box.Items {
			if item.Task != task {
				if got := h.task(item.Task); got.State != event.Executing || got.Owner != "lead" {
					h.Errorf("a handoff that nobody took: %s, owner %q", got.State, got.Owner)
				}
			}
		}
	})
}

func TestOfManyClocksOneLeadsToAHalfOpenAgent(t *testing.T) {
	halfOpenStory(t, func(h *harness) {
		h.join("lead", "away")
		h.halfOpen("flaky")
		before := h.offers("flaky")
		for range crowd {
			h.create(h.agent("lead"), tasks.CreateInput{Intent: "try", Send: &handoffs.SendInput{
				To: []string{"away", "flaky"}, Timeouts: event.Timeouts{Offer: event.Duration(10 * time.Minute)},
			}})
		}
		time.Sleep(12 * time.Minute)
		h.oneMore("flaky", before)
	})
}

func TestOfManyRecoveriesOneLeadsToAHalfOpenAgent(t *testing.T) {
	halfOpenStory(t, func(h *harness) {
		h.join("lead")
		h.register("holder", agents.AgentSpec{Fallbacks: []string{"flaky"}, Breaker: agents.Breaker{Failures: 100}})
		h.halfOpen("flaky")
		before := h.offers("flaky")
		tasksList := map[string]bool{}
		for range crowd {
			r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "try", Send: &handoffs.SendInput{To: []string{"holder"}}})
			tasksList[h.accept("holder", h.waitFor("holder", func(i view.Item) bool { return i.Task == r.Task })).Task] = true
		}
		time.Sleep(32 * time.Minute) // their leases end
		task := h.oneMore("flaky", before)
		for id := range tasksList {
			got := h.task(id)
			if want := map[bool]string{true: "flaky", false: "holder"}[id == task]; got.Handoff == nil || len(got.Handoff.To) != 1 || got.Handoff.To[0] != want {
				h.Errorf("task %s is %s, offered to %+v, want %s", id, got.State, got.Handoff, want)
			}
		}
	})
}

func TestAnOwnerWhoseCircuitIsOpenGetsItsTasksBackWhenItResets(t *testing.T) {
	halfOpenStory(t, func(h *harness) {
		h.join("lead")
		h.register("holder", agents.AgentSpec{Breaker: agents.Breaker{Failures: 1, OpenFor: event.Duration(5 * time.Minute)}})
		for range 4 {
			r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "try", Send: &handoffs.SendInput{To: []string{"holder"}}})
			h.accept("holder", h.waitFor("holder", func(i view.Item) bool { return i.Task == r.Task }))
			time.Sleep(time.Minute) // each lease ends after the first has opened the circuit
		}
		time.Sleep(28 * time.Minute)
		h.pair("lead", "holder", agent.Open)
		back := map[string]bool{}
		for range 4 { // first what it was offered before its circuit opened, then the probe, then the others
			item := h.waitFor("holder", func(i view.Item) bool { return !back[i.Task] })
			back[item.Task] = true
			if a := h.accept("holder", item); a.Epoch != 2 {
				h.Errorf("accepted: %+v", a.Receipt)
			}
		}
		h.lets("lead", "holder")
	})
}
