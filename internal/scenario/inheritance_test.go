package scenario

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestSharingGivesTheContextAndNotTheTask(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "write", Start: true, Content: envelopes.Content{Data: json.RawMessage(`{"draft":7}`)}})
		ok(h, h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Share(ctx(h), c, tasks.ShareInput{Task: r.Task, Epoch: r.Epoch, To: "bob", Detail: "for your information"})
		})
		item := h.wait("bob")
		if item.Type != view.ItemShare {
			h.Fatalf("bob got %+v", item)
		}
		sheet := ok(h, h.agent("bob"), func(c caller.Caller) (envelopes.Sheet, error) {
			return h.app.Envelopes.Fetch(ctx(h), c, envelopes.ContentInput{ID: item.ID, Render: true})
		})
		if !strings.Contains(string(sheet.Envelope), `{"draft":7}`) || !strings.Contains(sheet.Prompt, "write") {
			h.Errorf("bob reads %s", sheet.Envelope)
		}
		h.empty("bob")
		if now := h.task(r.Task); now.Owner != "ann" || now.Epoch != r.Epoch {
			h.Errorf("sharing moved the task: %+v", now.Task)
		}
	})
}

func TestPermissionsOnlyNarrowOnTheWay(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "ledger", Permissions: []string{"read", "write"}, Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Permissions: []string{"read"}})
		b := h.accept("bob", h.wait("bob"))
		_, err := call(h.agent("bob"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Send(ctx(h), c, handoffs.SendInput{Task: b.Task, Epoch: b.Epoch, To: []string{"cyd"}, Permissions: []string{"read", "write"}})
		})
		if refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("bob passed on what it does not have: %v", err)
		}
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}, Permissions: []string{}})
		c := h.accept("cyd", h.wait("cyd"))
		if p := h.task(c.Task).Permissions; p == nil || len(p) != 0 {
			h.Errorf("cyd has %v: an empty list must stay empty, and not become unrestricted", p)
		}
	})
}

func TestABudgetIsSharedWithChildrenAndEndsTheTaskWhenSpent(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "ann", "bob")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "frugal", Budget: event.Budget{Tokens: 1000}, Start: true})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"ann", "bob"}, Kind: event.Broadcast, FanOut: true})
		for _, n := range []string{"ann", "bob"} {
			a := h.accept(n, h.wait(n))
			if got := h.task(a.Task).Budget.Tokens; got != 500 {
				h.Errorf("%s may spend %d", n, got)
			}
			ok(h, h.agent(n), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Complete(ctx(h), c, tasks.CompleteInput{Task: a.Task, Epoch: a.Epoch, Usage: event.Budget{Tokens: 200}})
			})
		}
		parent := h.inState(r.Task, event.Executing)
		if parent.Spent.Tokens != 400 || parent.Reserved.Tokens != 0 {
			h.Fatalf("spent %+v, reserved %+v", parent.Spent, parent.Reserved)
		}
		last := ok(h, h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Progress(ctx(h), c, tasks.ProgressInput{Task: r.Task, Epoch: r.Epoch, Note: "thinking", Usage: event.Budget{Tokens: 700}})
		})
		if last.State != event.Parked || last.Parked.Cause != event.ParkBudget {
			h.Errorf("overspent: %+v", last)
		}
	})
}

func TestAConstraintIsInEveryLaterEnvelopeChildrenIncluded(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd")
		r := h.create(h.operator(), tasks.CreateInput{Intent: "careful", Constraints: []event.Constraint{
			{ID: "no-prod", Kind: event.ConstraintProhibition, Text: "never touch production", Hard: true},
		}, Send: &handoffs.SendInput{To: []string{"ann"}}})
		a := h.accept("ann", h.wait("ann"))
		_, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Lift(ctx(h), c, tasks.LiftInput{Task: r.Task, ID: "no-prod", Why: "in my way"})
		})
		if refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("ann lifted the operator's constraint: %v", err)
		}
		h.send(h.agent("ann"), a.Receipt, handoffs.SendInput{To: []string{"bob"}, Kind: event.Cold})
		b := h.accept("bob", h.wait("bob"))
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "a part"}})
		c := h.accept("cyd", h.wait("cyd"))
		for who, got := range map[string]tasks.Accepted{"bob, cold": b, "cyd, a child": c} {
			if !strings.Contains(string(got.Content.Envelope), "never touch production") {
				h.Errorf("%s does not see the constraint: %s", who, got.Content.Envelope)
			}
		}
	})
}
