package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/roster"
	"github.com/trapezehq/trapeze/internal/view"
)

func TestAFanOutGivesEveryReceiverACopyAndTheSenderAllResults(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "ann", "bob", "cyd")
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "review it", Start: true})
		r = h.send(h.agent("lead"), r, app.SendInput{To: []string{"ann", "bob", "cyd"}, Kind: fact.Broadcast, FanOut: true})
		for _, name := range []string{"ann", "bob", "cyd"} {
			a := h.accept(name, h.wait(name))
			h.complete(name, a.Receipt, "by "+name)
		}
		parent := h.inState(r.Task, fact.Executing)
		for i, name := range []string{"ann", "bob", "cyd"} {
			if got := parent.Children[i].Result; got == nil || got.Text != "by "+name {
				h.Errorf("the result of %s: %+v", name, got)
			}
		}
	})
}

func TestAQuorumEndsTheWaitAndCancelsTheRest(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "ann", "bob", "cyd")
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "vote", Start: true})
		r = h.send(h.agent("lead"), r, app.SendInput{
			To: []string{"ann", "bob", "cyd"}, Kind: fact.Broadcast, FanOut: true,
			FanIn: fact.FanIn{Mode: fact.FanInQuorum, Quorum: 2},
		})
		late := h.accept("cyd", h.wait("cyd"))
		for _, name := range []string{"ann", "bob"} {
			h.complete(name, h.accept(name, h.wait(name)).Receipt, "yes")
		}
		h.inState(r.Task, fact.Executing)
		h.inState(late.Task, fact.Cancelled)
		_, err := call(h.agent("cyd"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Complete(ctx(h), c, app.CompleteInput{Task: late.Task, Epoch: late.Epoch})
		})
		if err == nil {
			h.Error("a cancelled child was completed")
		}
	})
}

func TestCancellingReachesTheReceiverAndTheChildren(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "ann", "bob")
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "dig", Start: true})
		r = h.send(h.agent("lead"), r, app.SendInput{To: []string{"ann"}, Kind: fact.Delegation})
		child := h.accept("ann", h.wait("ann"))
		grand := h.send(h.agent("ann"), child.Receipt, app.SendInput{To: []string{"bob"}, Kind: fact.Delegation})
		h.wait("bob")
		ok(h, h.agent("lead"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Cancel(ctx(h), c, app.CancelInput{ID: r.Task, Detail: "changed my mind"})
		})
		h.inState(child.Task, fact.Cancelled)
		h.inState(grand.Children[0], fact.Cancelled)
		h.empty("bob")
	})
}

func TestATaskSetsOutAlongItsRouteWhenItsDependenciesHaveCompleted(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "builder", "tester")
		first := h.create(h.agent("lead"), app.CreateInput{Intent: "build", Send: &app.SendInput{To: []string{"builder"}}})
		then := h.create(h.agent("lead"), app.CreateInput{Intent: "test", Dependencies: []string{first.Task}, Route: []string{"tester"}})
		_, err := call(h.agent("lead"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Send(ctx(h), c, app.SendInput{Task: then.Task, To: []string{"tester"}})
		})
		if err == nil {
			h.Fatal("a task with an unfinished dependency set out")
		}
		h.complete("builder", h.accept("builder", h.wait("builder")).Receipt, "built")
		h.complete("tester", h.accept("tester", h.wait("tester")).Receipt, "tested")
		h.inState(then.Task, fact.Completed)
	})
}

func TestATaskWhoseDependencyFailedGoesToTheDeadLetters(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "builder")
		first := h.create(h.agent("lead"), app.CreateInput{Intent: "build", Send: &app.SendInput{To: []string{"builder"}}})
		then := h.create(h.agent("lead"), app.CreateInput{Intent: "test", Dependencies: []string{first.Task}})
		a := h.accept("builder", h.wait("builder"))
		ok(h, h.agent("builder"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Fail(ctx(h), c, app.FailInput{Task: a.Task, Epoch: a.Epoch, Detail: "no compiler"})
		})
		if got := h.inState(then.Task, fact.Parked); got.Parked.Cause != fact.ParkDependency {
			h.Errorf("parked for %+v", got.Parked)
		}
	})
}

func TestABroadcastClaimHasExactlyOneWinner(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead")
		names := []string{"ann", "bob", "cyd", "dan"}
		for _, n := range names {
			h.register(n, roster.AgentSpec{Capabilities: []string{"review"}})
		}
		h.settle()
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "who reviews?", Start: true})
		h.send(h.agent("lead"), r, app.SendInput{Capability: "review", Kind: fact.Broadcast})
		type answer struct {
			a   app.Accepted
			err error
		}
		answers := make(chan answer, len(names))
		items := map[string]view.Item{}
		for _, n := range names {
			items[n] = h.wait(n)
		}
		for _, n := range names {
			item := items[n]
			go func() {
				a, err := call(h.agent(n), func(c app.Caller) (app.Accepted, error) {
					return h.app.Accept(ctx(h), c, app.AcceptInput{Handoff: item.ID, Offer: item.Offer})
				})
				answers <- answer{a, err}
			}()
		}
		winners := 0
		for range names {
			if got := <-answers; got.err == nil {
				winners++
			}
		}
		if winners != 1 {
			h.Errorf("%d winners", winners)
		}
		for _, n := range names {
			h.empty(n)
		}
	})
}

func TestAnAgentThatBecomesReadyJoinsAnOpenClaim(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead")
		h.register("ann", roster.AgentSpec{Capabilities: []string{"review"}})
		h.settle()
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "who reviews?", Start: true})
		h.send(h.agent("lead"), r, app.SendInput{Capability: "review", Kind: fact.Broadcast})
		h.register("late", roster.AgentSpec{Capabilities: []string{"review"}})
		if a := h.accept("late", h.wait("late")); a.Owner != "late" {
			h.Errorf("accepted: %+v", a.Receipt)
		}
	})
}

func TestLoopsEndInTheDeadLettersWithTheLimitThatWasReached(t *testing.T) {
	story(t, func(h *house) {
		h.join("ann", "bob", "cyd")
		r := h.create(h.agent("ann"), app.CreateInput{Intent: "hot potato", Start: true})
		h.send(h.agent("ann"), r, app.SendInput{To: []string{"bob"}})
		b := h.accept("bob", h.wait("bob"))
		h.send(h.agent("bob"), b.Receipt, app.SendInput{To: []string{"cyd"}})
		c := h.accept("cyd", h.wait("cyd"))
		r = h.send(h.agent("cyd"), c.Receipt, app.SendInput{To: []string{"ann"}})
		if r.State != fact.Parked || r.Parked.Cause != fact.ParkLimit {
			h.Fatalf("A→B→C→A without progress: %+v", r)
		}
		r = ok(h, h.operator(), func(op app.Caller) (docket.Receipt, error) {
			return h.app.Replay(ctx(h), op, app.ReplayInput{Task: r.Task, To: []string{"ann"}, Note: "ann must look"})
		})
		if a := h.accept("ann", h.wait("ann")); a.Owner != "ann" {
			h.Errorf("replayed: %+v", a.Receipt)
		}
	})
}

func TestExhaustedRetriesEndInTheDeadLettersAndAReplayRevivesTheTask(t *testing.T) {
	story(t, func(h *house) {
		h.join("lead", "deaf", "keen")
		r := h.create(h.agent("lead"), app.CreateInput{Intent: "anybody?", Start: true})
		none := 0
		r = h.send(h.agent("lead"), r, app.SendInput{To: []string{"deaf"}, Retries: &none, Timeouts: fact.Timeouts{Offer: fact.Duration(time.Minute)}})
		parked := h.inState(r.Task, fact.Parked)
		if parked.Parked.Cause != fact.ParkExhausted || parked.Handoff.Stage != fact.DeadLettered {
			h.Fatalf("parked for %+v, handoff %s", parked.Parked, parked.Handoff.Stage)
		}
		ok(h, h.operator(), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Replay(ctx(h), c, app.ReplayInput{Task: r.Task, To: []string{"keen"}})
		})
		h.complete("keen", h.accept("keen", h.wait("keen")).Receipt, "here")
		trail, err := h.app.Trail(ctx(h), h.operator(), r.Task)
		for err != nil {
			trail, err = h.app.Trail(ctx(h), h.operator(), r.Task)
		}
		if len(trail.Handoffs) != 2 || trail.Handoffs[0].Status != fact.DeadLettered || trail.Handoffs[1].Status != fact.Transferred {
			h.Errorf("the trail: %+v", trail.Handoffs)
		}
		var names []string
		for _, e := range trail.Handoffs[1].Entries {
			names = append(names, e.Event)
		}
		if len(names) < 6 || names[0] != "handoff-request" || names[len(names)-1] != "handoff-complete" {
			h.Errorf("the four messages: %v", names)
		}
	})
}

func TestASupervisedHandoffWaitsForAnApproverWhoIsNotItsSource(t *testing.T) {
	story(t, func(h *house) {
		h.join("junior", "senior", "prod")
		r := h.create(h.agent("junior"), app.CreateInput{Intent: "deploy", Start: true})
		h.send(h.agent("junior"), r, app.SendInput{To: []string{"prod"}, Kind: fact.Supervised, Approver: "senior"})
		h.empty("prod")
		item := h.wait("senior")
		if _, err := h.app.Approve(ctx(h), h.agent("junior"), app.ApproveInput{ID: item.ID}); err == nil {
			h.Fatal("the source approved its own handoff")
		}
		ok(h, h.agent("senior"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Approve(ctx(h), c, app.ApproveInput{ID: item.ID, Digest: item.Envelope})
		})
		h.accept("prod", h.wait("prod"))
	})
}

func TestAnExplicitConfirmLeavesTheTaskWithItsSourceUntilItLetsGo(t *testing.T) {
	story(t, func(h *house) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), app.CreateInput{Intent: "careful", Start: true})
		r = h.send(h.agent("ann"), r, app.SendInput{To: []string{"bob"}, Confirm: fact.ConfirmExplicit})
		a := h.accept("bob", h.wait("bob"))
		if a.Owner != "ann" || a.Content != nil || a.Stage != fact.Accepted {
			h.Fatalf("accepted, not confirmed: %+v", a)
		}
		r = ok(h, h.agent("ann"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Confirm(ctx(h), c, app.ConfirmInput{Handoff: r.Handoff, Epoch: r.Epoch, Content: app.Content{Notes: "mind the step"}})
		})
		if r.Owner != "bob" || r.Stage != fact.Transferred {
			h.Fatalf("confirmed: %+v", r)
		}
		sheet := ok(h, h.agent("bob"), func(c app.Caller) (app.Sheet, error) {
			return h.app.Content(ctx(h), c, app.ContentInput{ID: r.Handoff, Render: true})
		})
		if sheet.Digest != r.Envelope {
			h.Errorf("bob reads %s, the newest is %s", sheet.Digest, r.Envelope)
		}
	})
}

func TestATakeoverNeedsTheOwnersConsent(t *testing.T) {
	story(t, func(h *house) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), app.CreateInput{Intent: "mine", Start: true})
		asked := ok(h, h.agent("bob"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Takeover(ctx(h), c, app.TakeoverInput{Task: r.Task, Detail: "I know this"})
		})
		if asked.Ask != fact.AskID(r.Task, 1) || h.task(r.Task).Owner != "ann" {
			h.Fatalf("asked: %+v", asked)
		}
		item := h.wait("ann")
		moved := ok(h, h.agent("ann"), func(c app.Caller) (docket.Receipt, error) {
			return h.app.Approve(ctx(h), c, app.ApproveInput{ID: item.ID, Epoch: r.Epoch})
		})
		if moved.Owner != "bob" {
			h.Errorf("moved: %+v", moved)
		}
	})
}
