package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// The calls of the stories: each must succeed.

func (h *harness) create(by caller.Caller, in tasks.CreateInput) taskstore.Receipt {
	h.Helper()
	return ok(h, by, func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tasks.Create(ctx(h), c, &in) })
}

func (h *harness) send(by caller.Caller, r taskstore.Receipt, in handoffs.SendInput) taskstore.Receipt {
	h.Helper()
	in.Task, in.Epoch = r.Task, r.Epoch
	return ok(h, by, func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tasks.Send(ctx(h), c, in) })
}

func (h *harness) accept(agent string, item view.Item) tasks.Accepted {
	h.Helper()
	return ok(h, h.agent(agent), func(c caller.Caller) (tasks.Accepted, error) {
		return h.app.Tasks.Accept(ctx(h), c, tasks.AcceptInput{Handoff: item.ID, Offer: item.Offer})
	})
}

func (h *harness) reject(agent string, item view.Item, why event.Rejection) taskstore.Receipt {
	h.Helper()
	return ok(h, h.agent(agent), func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.Reject(ctx(h), c, tasks.RejectInput{Handoff: item.ID, Offer: item.Offer, Reason: why})
	})
}

func (h *harness) progress(agent string, r taskstore.Receipt, note string) taskstore.Receipt {
	h.Helper()
	return ok(h, h.agent(agent), func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.Progress(ctx(h), c, tasks.ProgressInput{Task: r.Task, Epoch: r.Epoch, Note: note})
	})
}

func (h *harness) complete(agent string, r taskstore.Receipt, text string) taskstore.Receipt {
	h.Helper()
	return ok(h, h.agent(agent), func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.Complete(ctx(h), c, tasks.CompleteInput{Task: r.Task, Epoch: r.Epoch, Result: event.Result{Text: text}})
	})
}

// wait is the agent's next inbox item.
func (h *harness) wait(agent string) view.Item {
	h.Helper()
	return h.waitFor(agent, func(view.Item) bool { return true })
}

// waitFor returns the agent's first inbox item that meets a condition.
func (h *harness) waitFor(agent string, is func(view.Item) bool) view.Item {
	h.Helper()
	changed, stop := h.views.Watch(identity.DefaultWorkspace, agent)
	defer stop()
	for deadline := time.Now().Add(2 * time.Hour); time.Now().Before(deadline); {
		box, err := known(h, h.agent(agent), h.app.Tasks.Inbox, tasks.InboxInput{})
		if err != nil && refusal.CodeOf(err) != refusal.Unknown {
			h.Fatal(err)
		}
		for _, item := range box.Items {
			if is(item) {
				return item
			}
		}
		select {
		case <-changed:
		case <-time.After(time.Second):
		}
	}
	h.Fatalf("nothing came for %s", agent)
	return view.Item{}
}

// settle waits until the views have everything.
func (h *harness) settle() {
	h.Helper()
	last, err := h.app.Positions.Last(ctx(h))
	if err == nil {
		err = h.app.Positions.Wait(ctx(h), last)
	}
	if err != nil {
		h.Fatal(err)
	}
}

// empty checks that the agent's inbox is empty.
func (h *harness) empty(agent string) {
	h.Helper()
	h.settle()
	box, err := known(h, h.agent(agent), h.app.Tasks.Inbox, tasks.InboxInput{Peek: true})
	if err != nil || len(box.Items) > 0 {
		h.Fatalf("the inbox of %s: %+v, %v", agent, box.Items, err)
	}
}

// task is a fresh read.
func (h *harness) task(id string) taskstore.Task {
	h.Helper()
	return ok(h, h.operator(), func(c caller.Caller) (taskstore.Task, error) { return h.app.Tasks.Show(ctx(h), c, id) })
}

// until waits until a task meets a condition.
func (h *harness) until(id, what string, is func(taskstore.Task) bool) taskstore.Task {
	h.Helper()
	for deadline := time.Now().Add(2 * time.Hour); ; {
		t := h.task(id)
		if is(t) {
			return t
		}
		for still := true; still && !time.Now().After(deadline); still = h.unchanged(t) {
			time.Sleep(time.Second) // of the fake clock: reading is recorded, so a wait for changes would wake itself
		}
		if time.Now().After(deadline) {
			h.Fatalf("task %s never came to be %s: it is %s, handoff %+v, parked %+v", id, what, t.State, t.Handoff, t.Parked)
		}
	}
}

// unchanged reports whether a task has no entry since it was read. It asks the ledger, because a use case records each read
// on the disk.
func (h *harness) unchanged(t taskstore.Task) bool {
	more, err := h.ledger.Stream(ctx(h), taskstore.StreamOf(identity.DefaultWorkspace, t.ID), t.Position, 1)
	return err == nil && len(more) == 0
}

func (h *harness) inState(id string, s event.State) taskstore.Task {
	h.Helper()
	return h.until(id, string(s), func(t taskstore.Task) bool { return t.State == s })
}

// story runs a story on every ledger, under a fake clock.
func story(t *testing.T, tell func(h *harness)) {
	t.Helper()
	for _, kind := range ledgers {
		t.Run(kind, func(t *testing.T) { bubble(t, kind, tell) })
	}
}
