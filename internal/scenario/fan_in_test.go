package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestAQuorumDoesNotWaitForAChildInTheDeadLetters(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "deaf", "ann", "bob")
		none := 0
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "vote", Start: true})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{
			To: []string{"deaf", "ann", "bob"}, Kind: event.Broadcast, FanOut: true, Retries: &none,
			Timeouts: event.Timeouts{Offer: event.Duration(time.Minute)}, FanIn: event.FanIn{Mode: event.FanInQuorum, Quorum: 2},
		})
		a, b := h.accept("ann", h.wait("ann")), h.accept("bob", h.wait("bob"))
		h.inState(r.Children[0], event.Parked)
		h.complete("ann", a.Receipt, "yes")
		h.complete("bob", b.Receipt, "yes")
		h.inState(r.Task, event.Executing)
		h.inState(r.Children[0], event.Cancelled)
	})
}

func TestATaskHasNoMoreDescendantsThanAllowedAndUnusedOnesReturn(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "ann", "bob", "cyd")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "dig", Start: true, Limits: event.Limits{Tasks: 2}})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"ann"}, Kind: event.Delegation})
		a := h.accept("ann", h.wait("ann"))
		deeper := h.send(h.agent("ann"), a.Receipt, handoffs.SendInput{To: []string{"bob"}, Kind: event.Delegation})
		b := h.accept("bob", h.wait("bob"))
		_, err := call(h.agent("bob"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Send(ctx(h), c, handoffs.SendInput{Task: b.Task, Epoch: b.Epoch, To: []string{"cyd"}, Kind: event.Delegation})
		})
		if refusal.CodeOf(err) != refusal.Limit {
			h.Errorf("a third task comes of one that may have two: %v", err)
		}
		h.complete("bob", b.Receipt, "dug")
		h.inState(deeper.Task, event.Executing)
		h.complete("ann", a.Receipt, "dug")
		if used := h.inState(r.Task, event.Executing).Used.Tasks; used != 2 {
			h.Errorf("%d tasks have come of the first", used)
		}
	})
	story(t, func(h *harness) {
		h.join("lead", "ann")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "dig", Start: true, Limits: event.Limits{Tasks: 20}})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"ann"}, Kind: event.Delegation, FanIn: event.FanIn{Mode: event.FanInNone}})
		if used := h.task(r.Task).Used.Tasks; used != 2 { // the child, and one that may come of it
			h.Errorf("%d tasks are used", used)
		}
		a := h.accept("ann", h.wait("ann"))
		h.complete("ann", a.Receipt, "dug")
		h.until(r.Task, "told of its child's end", func(t taskstore.Task) bool { return t.Used.Tasks == 1 })
	})
}
