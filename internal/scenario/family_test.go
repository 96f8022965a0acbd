package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
)

func TestAQuorumDoesNotWaitForAChildInTheDeadLetters(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "deaf", "ann", "bob")
		none := 0
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "vote", Start: true})
		r = h.send(h.agent("lead"), r, app.SendInput{
			To: []string{"deaf", "ann", "bob"}, Kind: fact.Broadcast, FanOut: true, Retries: &none,
			Timeouts: fact.Timeouts{Offer: fact.Duration(time.Minute)}, FanIn: fact.FanIn{Mode: fact.FanInQuorum, Quorum: 2},
		})
		a, b := h.accept("ann", h.wait("ann")), h.accept("bob", h.wait("bob"))
		h.inState(r.Children[0], fact.Parked)
		h.complete("ann", a.Receipt, "yes")
		h.complete("bob", b.Receipt, "yes")
		h.inState(r.Task, fact.Executing)
		h.inState(r.Children[0], fact.Cancelled)
	})
}

func TestAParentWaitsForAChildInTheDeadLettersUntilItIsDiscarded(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "deaf")
		none := 0
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "anybody?", Start: true})
		r = h.send(h.agent("lead"), r, app.SendInput{
			To: []string{"deaf"}, Kind: fact.Delegation, Retries: &none, Timeouts: fact.Timeouts{Offer: fact.Duration(time.Minute)},
		})
		h.until(r.Task, "told that its child is parked", func(t docket.Task) bool { return t.Children[0].State == fact.Parked })
		if got := h.task(r.Task).State; got != fact.Waiting {
			h.Fatalf("the parent is %s", got)
		}
		ok(h, h.operator(), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Discard(ctx(h), c, app.DiscardInput{Task: r.Children[0], Why: "nobody there"})
		})
		h.inState(r.Task, fact.Executing)
	})
}

func TestNoMoreTasksComeOfOneThanMayAndWhatIsNotUsedComesBack(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "ann", "bob", "cyd")
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "dig", Start: true, Limits: fact.Limits{Tasks: 2}})
		r = h.send(h.agent("lead"), r, app.SendInput{To: []string{"ann"}, Kind: fact.Delegation})
		a := h.accept("ann", h.wait("ann"))
		deeper := h.send(h.agent("ann"), a.Receipt, app.SendInput{To: []string{"bob"}, Kind: fact.Delegation})
		b := h.accept("bob", h.wait("bob"))
		_, err := call(h.agent("bob"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Send(ctx(h), c, app.SendInput{Task: b.Task, Epoch: b.Epoch, To: []string{"cyd"}, Kind: fact.Delegation})
		})
		if refusal.CodeOf(err) != refusal.Limit {
			h.Errorf("a third task comes of one that may have two: %v", err)
		}
		h.complete("bob", b.Receipt, "dug")
		h.inState(deeper.Task, fact.Executing)
		h.complete("ann", a.Receipt, "dug")
		if used := h.inState(r.Task, fact.Executing).Used.Tasks; used != 2 {
			h.Errorf("%d tasks have come of the first", used)
		}
	})
	story(t, func(h *house) {
		h.join("lead", "ann")
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "dig", Start: true, Limits: fact.Limits{Tasks: 20}})
		r = h.send(h.agent("lead"), r, app.SendInput{To: []string{"ann"}, Kind: fact.Delegation, FanIn: fact.FanIn{Mode: fact.FanInNone}})
		if used := h.task(r.Task).Used.Tasks; used != 2 { // the child, and one that may come of it
			h.Errorf("%d tasks are used", used)
		}
		a := h.accept("ann", h.wait("ann"))
		h.complete("ann", a.Receipt, "dug")
		h.until(r.Task, "told of its child's end", func(t docket.Task) bool { return t.Used.Tasks == 1 })
	})
}

func TestAReceiverThatWouldCloseALoopIsPassedOverInAFanOut(t *testing.T) {
	story(t, func(h *house) {
		h.join("ann", "bob", "cyd", "dan")
		r := h.create(h.agent("ann"), app.CreateInput{Intent: "hot potato", Start: true})
		h.send(h.agent("ann"), r, app.SendInput{To: []string{"bob"}})
		b := h.accept("bob", h.wait("bob"))
		r = h.send(h.agent("bob"), b.Receipt, app.SendInput{To: []string{"ann", "cyd"}, Kind: fact.Broadcast, FanOut: true})
		if len(r.Children) != 1 || r.State != fact.Waiting {
			h.Fatalf("fanned out: %+v", r)
		}
		h.empty("ann")
		h.complete("cyd", h.accept("cyd", h.wait("cyd")).Receipt, "a part")
		h.inState(r.Task, fact.Executing)
		r = h.send(h.agent("bob"), b.Receipt, app.SendInput{To: []string{"cyd", "dan"}, Kind: fact.Broadcast, FanOut: true})
		h.complete("dan", h.accept("dan", h.wait("dan")).Receipt, "a part")
		h.complete("cyd", h.accept("cyd", h.wait("cyd")).Receipt, "a part")
		if got := h.inState(r.Task, fact.Executing); len(got.Children) != 3 {
			h.Errorf("children: %+v", got.Children)
		}
	})
}
