//go:build slow || outside

package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestAParentWaitsForAChildInTheDeadLettersUntilItIsDiscarded(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "deaf")
		none := 0
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "anybody?", Start: true})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{
			To: []string{"deaf"}, Kind: event.Delegation, Retries: &none, Timeouts: event.Timeouts{Offer: event.Duration(time.Minute)},
		})
		h.until(r.Task, "told that its child is parked", func(t taskstore.Task) bool { return t.Children[0].State == event.Parked })
		if got := h.task(r.Task).State; got != event.Waiting {
			h.Fatalf("the parent is %s", got)
		}
		ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Discard(ctx(h), c, tasks.DiscardInput{Task: r.Children[0], Why: "nobody there"})
		})
		h.inState(r.Task, event.Executing)
	})
}

func TestAReceiverThatWouldCloseALoopIsPassedOverInAFanOut(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd", "dan")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "hot potato", Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		b := h.accept("bob", h.wait("bob"))
		r = h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"ann", "cyd"}, Kind: event.Broadcast, FanOut: true})
		if len(r.Children) != 1 || r.State != event.Waiting {
			h.Fatalf("fanned out: %+v", r)
		}
		h.empty("ann")
		h.complete("cyd", h.accept("cyd", h.wait("cyd")).Receipt, "a part")
		h.inState(r.Task, event.Executing)
		r = h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd", "dan"}, Kind: event.Broadcast, FanOut: true})
		h.complete("dan", h.accept("dan", h.wait("dan")).Receipt, "a part")
		h.complete("cyd", h.accept("cyd", h.wait("cyd")).Receipt, "a part")
		if got := h.inState(r.Task, event.Executing); len(got.Children) != 3 {
			h.Errorf("children: %+v", got.Children)
		}
	})
}
