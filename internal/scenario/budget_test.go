package scenario

import (
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

func (h *harness) raise(by caller.Caller, task string, tokens int64) error {
	_, err := call(by, func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.RaiseBudget(ctx(h), c, tasks.RaiseBudgetInput{Task: task, Budget: event.Budget{Tokens: tokens}})
	})
	return err
}

func TestTheOwnerOfAParentRaisesTheBudgetOfAChildWithinItsOwn(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd", "eve")
		r := h.create(h.operator(), tasks.CreateInput{Intent: "frugal", Budget: event.Budget{Tokens: 1000}, Send: &handoffs.SendInput{To: []string{"ann"}}})
		a := h.accept("ann", h.wait("ann"))
		h.send(h.agent("ann"), a.Receipt, handoffs.SendInput{To: []string{"bob"}, Kind: event.Delegation, Budget: event.Budget{Tokens: 100}})
		b := h.accept("bob", h.wait("bob"))
		ok(h, h.agent("bob"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Progress(ctx(h), c, tasks.ProgressInput{Task: b.Task, Epoch: b.Epoch, Note: "half", Usage: event.Budget{Tokens: 100}})
		})
		_, err := call(h.agent("bob"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Send(ctx(h), c, handoffs.SendInput{Task: b.Task, Epoch: b.Epoch, To: []string{"cyd"}})
		})
		must(h, "bob sends what is spent", err, refusal.Budget, "owner of task "+r.Task, "trapeze task budget "+b.Task+" --tokens 200")
		must(h, "the child's owner", h.raise(h.agent("bob"), b.Task, 200), refusal.NotPermitted, "owner")
		must(h, "the parent's owner raises its own", h.raise(h.agent("ann"), r.Task, 2000), refusal.NotPermitted, "operator/ann")
		must(h, "a stranger", h.raise(h.agent("eve"), b.Task, 200), refusal.NotFound)
		must(h, "more than is left", h.raise(h.agent("ann"), b.Task, 1200), refusal.Budget, "900 tokens", "trapeze task budget "+r.Task)
		must(h, "an operator takes more than is left", h.raise(h.operator(), b.Task, 1200), refusal.Budget)
		must(h, "less", h.raise(h.agent("ann"), b.Task, 50), refusal.Invalid, "raised")
		first, again := h.agent("ann").WithKey("raise"), tasks.RaiseBudgetInput{Task: b.Task, Budget: event.Budget{Tokens: 400}}
		if got, err := known(h, first, h.app.Tasks.RaiseBudget, again); err != nil || got.Task != b.Task || len(got.Events) != 1 {
			h.Errorf("%+v, %v", got, err)
		}
		if err := h.raise(h.operator(), b.Task, 500); err != nil {
			h.Error(err)
		}
		if got, err := known(h, first, h.app.Tasks.RaiseBudget, again); err != nil || !got.Repeat {
			h.Errorf("the same call again: %+v, %v", got, err)
		}
		if p, c := h.task(r.Task), h.task(b.Task); p.Reserved.Tokens != 500 || p.Budget.Tokens != 1000 || c.Budget.Tokens != 500 {
			h.Errorf("the parent reserves %+v of %+v for a child that has %+v", p.Reserved, p.Budget, c.Budget)
		}
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}})
	})
}

func TestTheBudgetOfAReplayedChildIsReservedFromItsParent(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true, Budget: event.Budget{Tokens: 1000}})
		r = h.send(h.agent("ann"), r, lost(handoffs.SendInput{To: []string{"bob"}, Kind: event.Delegation, Budget: event.Budget{Tokens: 400}}))
		h.wait("bob") // the child is there
		child := h.inState(r.Children[0], event.Parked)
		_, err := call(h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Replay(ctx(h), c, tasks.ReplayInput{Task: child.ID, To: []string{"cyd"}, Budget: event.Budget{Tokens: 1200}})
		})
		must(h, "more than the parent has", err, refusal.Budget, "600 tokens")
		if now := h.task(child.ID); now.State != event.Parked || now.Budget.Tokens != 400 {
			h.Errorf("the child is %s with %d tokens", now.State, now.Budget.Tokens)
		}
		for name, in := range map[string]tasks.ReplayInput{
			"to an agent that is not there": {To: []string{"nobody"}},
			"for a capability of no agent":  {Capability: "roofing"},
			"with a note that is too long":  {To: []string{"cyd"}, Note: strings.Repeat("n", event.MaxText+1)},
			"with a deadline that is over":  {To: []string{"cyd"}, Deadline: time.Unix(1, 0)},
		} {
			in.Task, in.Budget = child.ID, event.Budget{Tokens: 700}
			_, err := call(h.operator(), func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tasks.Replay(ctx(h), c, in) })
			if held := h.task(r.Task).Reserved.Tokens; err == nil || held != 400 {
				h.Errorf("%s: %v, and the parent reserves %d", name, err, held)
			}
		}
		h.replay(tasks.ReplayInput{Task: child.ID, To: []string{"cyd"}, Budget: event.Budget{Tokens: 700}})
		if got, held := h.task(child.ID).Budget.Tokens, h.task(r.Task).Reserved.Tokens; got != 700 || held != 700 {
			h.Errorf("the child has %d tokens, and its parent reserves %d", got, held)
		}
	})
}

func TestTheAttemptsOfAParentAreDebitedFromItsChildren(t *testing.T) {
	story(t, func(h *harness) {
		h.join("last")
		h.register("helper", agents.AgentSpec{Fallbacks: []string{"last"}})
		h.register("expert", agents.AgentSpec{Fallbacks: []string{"last"}})
		h.register("coder", agents.AgentSpec{Fallbacks: []string{"helper"}})
		r := h.create(h.operator(), tasks.CreateInput{Intent: "fix", Limits: event.Limits{Attempts: 1}, Send: &handoffs.SendInput{To: []string{"coder"}}})
		h.accept("coder", h.wait("coder"))
		h.stuck(h.operator(), r.Task)
		owner := h.accept("helper", h.wait("helper")) // the only attempt is spent
		h.send(h.agent("helper"), owner.Receipt, handoffs.SendInput{To: []string{"expert"}, Kind: event.Delegation})
		part := h.accept("expert", h.wait("expert")).Task
		if now := h.task(part); now.Used.Attempts != 1 || now.Limits.Attempts != 1 {
			h.Errorf("the part starts with %d attempts of %d", now.Used.Attempts, now.Limits.Attempts)
		}
		h.stuck(h.operator(), part)
		if now := h.task(part); now.State != event.Parked || now.Parked == nil || !strings.Contains(now.Parked.Detail, "attempts limit 1") {
			h.Errorf("the part loses its owner when no attempt is left, and is %s: %+v", now.State, now.Parked)
		}
	})
}
