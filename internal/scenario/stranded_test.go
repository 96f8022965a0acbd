//go:build slow || outside

package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestWhoWaitsForADeadLetterIsToldWhyAndGoesOnWithoutIt(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "ann", "bob")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "review it", Start: true})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"ann", "bob"}, Kind: event.Broadcast, FanOut: true})
		h.complete("ann", h.accept("ann", h.wait("ann")).Receipt, "two bugs")
		offer := h.wait("bob")
		before := h.until(r.Task, "the parent of a child that is done", func(t taskstore.Task) bool { return t.Children[0].State == event.Completed })

		woken := make(chan taskstore.Task, 1)
		go func() {
			got, _ := call(h.agent("lead"), func(c caller.Caller) (taskstore.Task, error) {
				return h.app.Tasks.Wait(ctx(h), c, tasks.TaskInput{ID: r.Task, After: before.Position, Wait: tasks.MaxWait})
			})
			woken <- got
		}()
		blocked := make(chan view.Inbox, 1)
		go func() {
			got, _ := call(h.agent("lead"), func(c caller.Caller) (view.Inbox, error) {
				return h.app.Tasks.Inbox(ctx(h), c, tasks.InboxInput{Wait: tasks.MaxWait})
			})
			blocked <- got
		}()
		h.reject("bob", offer, event.NotCapable)

		const why = "returned: bob turned it down: not capable; no receiver left; offers made: 1"
		child := r.Children[1]
		if got := <-woken; len(got.Children) != 2 || got.Children[1].State != event.Parked || got.Children[1].Why != why {
			h.Errorf("a caller that waits for the parent sees %+v", got.Children)
		}
		box := <-blocked
		if len(box.Items) != 1 || box.Items[0].Type != view.ItemStranded || box.Items[0].ID != child || box.Items[0].Task != r.Task || box.Items[0].Detail != why {
			h.Errorf("a caller that waits for its inbox gets %+v", box.Items)
		}
		_, err := call(h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Replay(ctx(h), c, tasks.ReplayInput{Task: child, To: []string{"bob"}})
		})
		if refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("an agent gives itself fresh limits: %v", err)
		}

		ok(h, h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Cancel(ctx(h), c, tasks.CancelInput{ID: child, Detail: "ann's review will do"})
		})
		parent := h.inState(r.Task, event.Executing)
		if k := parent.Children[0]; k.Result == nil || k.Result.Text != "two bugs" {
			h.Errorf("the other's result: %+v", k)
		}
		if k := parent.Children[1]; k.State != event.Cancelled || k.Why != "cancelled by lead: ann's review will do" {
			h.Errorf("what was called off: %+v", k)
		}
		if item := h.wait("lead"); item.Type != view.ItemResumed || item.ID != r.Task || item.From != "ann, bob" {
			h.Errorf("what came of it: %+v", item)
		}
		ok(h, h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Progress(ctx(h), c, tasks.ProgressInput{Task: r.Task, Epoch: parent.Epoch, Note: "merging the review"})
		})
		h.empty("lead")
	})
}

func TestAReplayedChildIsNoLongerInItsParentsInbox(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix", Start: true})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"coder"}, Kind: event.Delegation})
		h.reject("coder", h.wait("coder"), event.Refused)
		if item := h.wait("lead"); item.Type != view.ItemStranded {
			h.Fatalf("%+v", item)
		}
		ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Replay(ctx(h), c, tasks.ReplayInput{Task: r.Children[0], To: []string{"coder"}})
		})
		h.until(r.Task, "a parent that knows it", func(t taskstore.Task) bool { return t.Children[0].State == event.Pending && t.Children[0].Why == "" })
		h.empty("lead")
		a := h.accept("coder", h.wait("coder"))
		ok(h, h.agent("coder"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Fail(ctx(h), c, tasks.FailInput{Task: a.Task, Epoch: a.Epoch, Detail: "no compiler"})
		})
		if got := h.inState(r.Task, event.Executing).Children[0]; got.State != event.Failed || got.Why != "no compiler" {
			h.Errorf("how it ended: %+v", got)
		}
	})
}

func TestAHandleSaysWhyNothingComesAndWhatHelps(t *testing.T) {
	h := handleStory(t)
	task := h.own()
	handle := h.begin("lead", "send", map[string]any{"task": task, "to": []string{"stranger", "reviewer"}, "kind": "broadcast", "fan_out": true})
	stream := h.post("lead", "subscriptions/listen", "", map[string]any{"notifications": map[string]any{"taskIds": []string{handle}}})
	begun := false
	h.messages(stream, func(m reply) bool {
		if m.Method != "notifications/tasks" {
			return false
		}
		if !begun { // the second of the two
			begun = true
			items, err := h.as("reviewer").WaitInbox(t.Context(), api.InboxOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.as("reviewer").Reject(t.Context(), items[0].ID, api.RejectInput{Reason: api.Refused}); err != nil {
				t.Fatal(err)
			}
		}
		message := fmt.Sprint(m.Params["statusMessage"])
		return strings.Contains(message, "reviewer (parked: `returned: reviewer turned it down") && strings.Contains(message, "Or call cancel with id=task_")
	})
	parent, err := h.as("lead").Task(t.Context(), task)
	if err != nil || len(parent.Stranded()) != 1 {
		t.Fatalf("%+v: %v", parent.Children, err)
	}
	child := parent.Stranded()[0].Task
	said := func(tool string, arguments map[string]any) string {
		return fmt.Sprint(h.call("lead", tool, arguments).Result["content"])
	}
	status := said("status", map[string]any{"id": task})
	for _, want := range []string{"Child " + child + " for reviewer is parked: `returned: reviewer turned it down", "only an operator can replay " + child, "call cancel with id=" + child} {
		if !strings.Contains(status, want) {
			t.Errorf("status lacks %q: %s", want, status)
		}
	}
	if box := said("inbox", map[string]any{}); !strings.Contains(box, "stranded "+child) || !strings.Contains(box, "shows what you can do") {
		t.Errorf("the inbox: %s", box)
	}
	said("cancel", map[string]any{"id": child, "why": "one will do"})
	items, err := h.as("stranger").WaitInbox(t.Context(), api.InboxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := h.as("stranger").Accept(t.Context(), items[0].ID, api.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.as("stranger").Complete(t.Context(), a.Task, api.CompleteInput{Epoch: a.Epoch, Result: api.Result{Text: "two bugs"}}); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(h.until("lead", handle, "completed")["result"])
	for _, want := range []string{"1 of 2 results have arrived", "two bugs", "cancelled by lead: one will do", "continue task " + task} {
		if !strings.Contains(text, want) {
			t.Errorf("the result lacks %q: %s", want, text)
		}
	}
	if box := said("inbox", map[string]any{"wait": 45}); !strings.Contains(box, "resumed "+task) {
		t.Errorf("the inbox: %s", box)
	}
}
