package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestAFanOutGivesEveryReceiverACopyAndTheSenderAllResults(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "ann", "bob", "cyd")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "review it", Start: true})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"ann", "bob", "cyd"}, Kind: event.Broadcast, FanOut: true})
		for _, name := range []string{"ann", "bob", "cyd"} {
			a := h.accept(name, h.wait(name))
			h.complete(name, a.Receipt, "by "+name)
		}
		parent := h.inState(r.Task, event.Executing)
		for i, name := range []string{"ann", "bob", "cyd"} {
			if got := parent.Children[i].Result; got == nil || got.Text != "by "+name {
				h.Errorf("the result of %s: %+v", name, got)
			}
		}
	})
}

func TestAQuorumEndsTheWaitAndCancelsTheRest(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "ann", "bob", "cyd")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "vote", Start: true})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{
			To: []string{"ann", "bob", "cyd"}, Kind: event.Broadcast, FanOut: true,
			FanIn: event.FanIn{Mode: event.FanInQuorum, Quorum: 2},
		})
		late := h.accept("cyd", h.wait("cyd"))
		for _, name := range []string{"ann", "bob"} {
			h.complete(name, h.accept(name, h.wait(name)).Receipt, "yes")
		}
		h.inState(r.Task, event.Executing)
		h.inState(late.Task, event.Cancelled)
		_, err := call(h.agent("cyd"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Complete(ctx(h), c, tasks.CompleteInput{Task: late.Task, Epoch: late.Epoch})
		})
		if err == nil {
			h.Error("a cancelled child was completed")
		}
	})
}

func TestCancellingReachesTheReceiverAndTheChildren(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "ann", "bob")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "dig", Start: true})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"ann"}, Kind: event.Delegation})
		child := h.accept("ann", h.wait("ann"))
		grand := h.send(h.agent("ann"), child.Receipt, handoffs.SendInput{To: []string{"bob"}, Kind: event.Delegation})
		h.wait("bob")
		ok(h, h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Cancel(ctx(h), c, tasks.CancelInput{ID: r.Task, Detail: "changed my mind"})
		})
		h.inState(child.Task, event.Cancelled)
		h.inState(grand.Children[0], event.Cancelled)
		h.empty("bob")
	})
}

func TestATaskSetsOutAlongItsRouteWhenItsDependenciesHaveCompleted(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "builder", "tester")
		first := h.create(h.agent("lead"), tasks.CreateInput{Intent: "build", Send: &handoffs.SendInput{To: []string{"builder"}}})
		then := h.create(h.agent("lead"), tasks.CreateInput{Intent: "test", Dependencies: []string{first.Task}, Route: []string{"tester"}})
		_, err := call(h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Send(ctx(h), c, handoffs.SendInput{Task: then.Task, To: []string{"tester"}})
		})
		if err == nil {
			h.Fatal("a task with an unfinished dependency set out")
		}
		h.complete("builder", h.accept("builder", h.wait("builder")).Receipt, "built")
		h.complete("tester", h.accept("tester", h.wait("tester")).Receipt, "tested")
		h.inState(then.Task, event.Completed)
	})
}

func TestATaskWhoseDependencyFailedGoesToTheDeadLetters(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "builder")
		first := h.create(h.agent("lead"), tasks.CreateInput{Intent: "build", Send: &handoffs.SendInput{To: []string{"builder"}}})
		then := h.create(h.agent("lead"), tasks.CreateInput{Intent: "test", Dependencies: []string{first.Task}})
		a := h.accept("builder", h.wait("builder"))
		ok(h, h.agent("builder"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Fail(ctx(h), c, tasks.FailInput{Task: a.Task, Epoch: a.Epoch, Detail: "no compiler"})
		})
		if got := h.inState(then.Task, event.Parked); got.Parked.Cause != event.ParkDependency {
			h.Errorf("parked for %+v", got.Parked)
		}
	})
}

func TestABroadcastClaimHasExactlyOneWinner(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead")
		names := []string{"ann", "bob", "cyd", "dan"}
		for _, n := range names {
			h.register(n, agents.AgentSpec{Capabilities: []string{"review"}})
		}
		h.settle()
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "who reviews?", Start: true})
		h.send(h.agent("lead"), r, handoffs.SendInput{Capability: "review", Kind: event.Broadcast})
		type answer struct {
			a   tasks.Accepted
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
				a, err := call(h.agent(n), func(c caller.Caller) (tasks.Accepted, error) {
					return h.app.Tasks.Accept(ctx(h), c, tasks.AcceptInput{Handoff: item.ID, Offer: item.Offer})
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
	story(t, func(h *harness) {
		h.join("lead")
		h.register("ann", agents.AgentSpec{Capabilities: []string{"review"}})
		h.settle()
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "who reviews?", Start: true})
		h.send(h.agent("lead"), r, handoffs.SendInput{Capability: "review", Kind: event.Broadcast})
		h.register("late", agents.AgentSpec{Capabilities: []string{"review"}})
		if a := h.accept("late", h.wait("late")); a.Owner != "late" {
			h.Errorf("accepted: %+v", a.Receipt)
		}
	})
}

func TestLoopsEndInTheDeadLettersWithTheLimitThatWasReached(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "hot potato", Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		b := h.accept("bob", h.wait("bob"))
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}})
		c := h.accept("cyd", h.wait("cyd"))
		r = h.send(h.agent("cyd"), c.Receipt, handoffs.SendInput{To: []string{"ann"}})
		if r.State != event.Parked || r.Parked.Cause != event.ParkLimit {
			h.Fatalf("A→B→C→A without progress: %+v", r)
		}
		r = ok(h, h.operator(), func(op caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Replay(ctx(h), op, tasks.ReplayInput{Task: r.Task, To: []string{"ann"}, Note: "ann must look"})
		})
		if a := h.accept("ann", h.wait("ann")); a.Owner != "ann" {
			h.Errorf("replayed: %+v", a.Receipt)
		}
	})
}

func TestExhaustedRetriesEndInTheDeadLettersAndAReplayRevivesTheTask(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "deaf", "keen")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "anybody?", Start: true})
		none := 0
		r = h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"deaf"}, Retries: &none, Timeouts: event.Timeouts{Offer: event.Duration(time.Minute)}})
		parked := h.inState(r.Task, event.Parked)
		if parked.Parked.Cause != event.ParkExhausted || parked.Handoff.Stage != event.DeadLettered {
			h.Fatalf("parked for %+v, handoff %s", parked.Parked, parked.Handoff.Stage)
		}
		ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Replay(ctx(h), c, tasks.ReplayInput{Task: r.Task, To: []string{"keen"}})
		})
		h.complete("keen", h.accept("keen", h.wait("keen")).Receipt, "here")
		trail, err := h.app.History.Trail(ctx(h), h.operator(), r.Task)
		for err != nil {
			trail, err = h.app.History.Trail(ctx(h), h.operator(), r.Task)
		}
		if len(trail.Handoffs) != 2 || trail.Handoffs[0].Status != event.DeadLettered || trail.Handoffs[1].Status != event.Transferred {
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
	story(t, func(h *harness) {
		h.join("junior", "senior", "prod")
		r := h.create(h.agent("junior"), tasks.CreateInput{Intent: "deploy", Start: true})
		h.send(h.agent("junior"), r, handoffs.SendInput{To: []string{"prod"}, Kind: event.Supervised, Approver: "senior"})
		h.empty("prod")
		item := h.wait("senior")
		if _, err := h.app.Tasks.Approve(ctx(h), h.agent("junior"), tasks.ApproveInput{ID: item.ID}); err == nil {
			h.Fatal("the source approved its own handoff")
		}
		ok(h, h.agent("senior"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: item.ID, Digest: item.Envelope})
		})
		h.accept("prod", h.wait("prod"))
	})
}

func TestAnExplicitConfirmLeavesTheTaskWithItsSourceUntilItLetsGo(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "careful", Start: true})
		r = h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Confirm: event.ConfirmExplicit})
		a := h.accept("bob", h.wait("bob"))
		if a.Owner != "ann" || a.Content != nil || a.Stage != event.Accepted {
			h.Fatalf("accepted, not confirmed: %+v", a)
		}
		r = ok(h, h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Confirm(ctx(h), c, tasks.ConfirmInput{Handoff: r.Handoff, Epoch: r.Epoch, Content: envelopes.Content{Notes: "mind the step"}})
		})
		if r.Owner != "bob" || r.Stage != event.Transferred {
			h.Fatalf("confirmed: %+v", r)
		}
		sheet := ok(h, h.agent("bob"), func(c caller.Caller) (envelopes.Sheet, error) {
			return h.app.Envelopes.Fetch(ctx(h), c, envelopes.ContentInput{ID: r.Handoff, Render: true})
		})
		if sheet.Digest != r.Envelope {
			h.Errorf("bob reads %s, the newest is %s", sheet.Digest, r.Envelope)
		}
	})
}

func TestATakeoverNeedsTheOwnersConsent(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "mine", Start: true})
		ok(h, h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Share(ctx(h), c, tasks.ShareInput{Task: r.Task, Epoch: r.Epoch, To: "bob"})
		})
		asked := ok(h, h.agent("bob"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Takeover(ctx(h), c, tasks.TakeoverInput{Task: r.Task, Detail: "I know this"})
		})
		if asked.Takeover != event.TakeoverID(r.Task, 1) || h.task(r.Task).Owner != "ann" {
			h.Fatalf("asked: %+v", asked)
		}
		item := h.wait("ann")
		moved := ok(h, h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: item.ID, Epoch: r.Epoch})
		})
		if moved.Owner != "bob" {
			h.Errorf("moved: %+v", moved)
		}
		told := h.waitFor("bob", func(i view.Item) bool { return i.Type == view.ItemResumed })
		if told.Task != r.Task || told.From != "ann" || told.Epoch != moved.Epoch || !strings.Contains(told.Detail, "you asked") {
			h.Errorf("bob is told %+v", told)
		}
	})
}
