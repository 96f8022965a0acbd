//go:build slow || outside

package scenario

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// writes appends an event to a task, past the rules, as an earlier version may have.
func (h *harness) writes(id string, e event.Event) {
	h.Helper()
	kind, err := stream.New(taskstore.Kind, h.ledger, task.Fold, h.now, event.Events, stream.Options[task.Task, event.Event]{Cached: 1})
	if err != nil {
		h.Fatal(err)
	}
	ok(h, h.as(identity.System, "old"), func(c caller.Caller) (stream.Outcome[task.Task], error) {
		return kind.Do(ctx(h), c.Write("old"), taskstore.StreamOf(identity.DefaultWorkspace, id), func(task.Task, time.Time) ([]event.Event, error) {
			return []event.Event{e}, nil
		})
	})
}

func TestWhatAgentsAddLeavesRoomForTheTask(t *testing.T) {
	story(t, func(h *harness) {
		h.join("bob")
		h.register("cyd", agents.AgentSpec{ContextWindow: 1000})
		h.create(h.operator(), tasks.CreateInput{Intent: "Write a summary of the minutes.", Send: &handoffs.SendInput{To: []string{"bob"}}})
		b := h.accept("bob", h.wait("bob"))
		long := event.Constraint{ID: "long", Kind: event.ConstraintFormat, Text: strings.Repeat("x", 1900)}
		must(h, "a text of 1,900 bytes", h.setting(h.agent("bob"), b.Receipt, long), refusal.TooLarge, "requester or an operator")
		for i := range 40 {
			k := event.Constraint{ID: fmt.Sprintf("k%02dx", i), Kind: event.ConstraintFormat, Text: strings.Repeat("no more than this. ", 1+i%20)}
			if i%3 == 0 {
				k.Allow = []string{"a+b", strings.Repeat("z", 1+i)}
			}
			_ = h.setting(h.agent("bob"), b.Receipt, k) // a refusal leaves what there is
		}
		now := h.task(b.Task)
		if n := len(now.Constraints); n < 4 || n > event.MaxAdded {
			h.Errorf("bob set %d constraints", n)
		}
		must(h, "one more", h.setting(h.agent("bob"), b.Receipt, event.Constraint{ID: "last", Kind: event.ConstraintFormat, Text: strings.Repeat("many words ", 30)}), refusal.Limit, "lift one")
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}, Pack: event.Pack{Tokens: 1000}})
		c := h.acceptPrompt("cyd")
		for _, k := range now.Constraints {
			if !strings.Contains(c.Content.Prompt, "\n"+k.ID+" (") {
				h.Errorf("cyd does not read %s", k.ID)
			}
		}
		// The operator's own are not counted among them.
		rule := event.Constraint{ID: "rule", Kind: event.ConstraintFormat, Text: strings.Repeat("All of it. ", 60)}
		if err := h.setting(h.operator(), c.Receipt, rule); err != nil {
			h.Error(err)
		}
	})
}

func TestTheRequesterLiftsWhatAgentsAdded(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "kid")
		rule := event.Constraint{ID: "rule", Kind: event.ConstraintFormat, Text: "One page."}
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "write", Start: true, Constraints: []event.Constraint{rule}})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		b := h.accept("bob", h.wait("bob"))
		added := event.Constraint{ID: "added", Kind: event.ConstraintFormat, Text: "No vowels.", Hard: true}
		if err := h.setting(h.agent("bob"), b.Receipt, added); err != nil {
			h.Fatal(err)
		}
		boss := event.Constraint{ID: "boss", Kind: event.ConstraintFormat, Text: "In German."}
		if err := h.setting(h.operator(), b.Receipt, boss); err != nil {
			h.Fatal(err)
		}
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "a part"}})
		k := h.acceptPrompt("kid")
		p := readPrompt(h, k.Content.Prompt)
		if p.entries("Constraints")["rule"] == "" || p.entries("Constraints")["boss"] == "" || p.entries("Added by agents")["added"] == "" {
			h.Errorf("the child reads\n%s", p.text)
		}
		own := event.Constraint{ID: "kids", Kind: event.ConstraintFormat, Text: "In rhyme."}
		if err := h.setting(h.agent("kid"), k.Receipt, own); err != nil {
			h.Fatal(err)
		}
		must(h, "bob lifts the rule of the parent in its child", h.lifting(h.agent("bob"), k.Task, "rule"), refusal.NotPermitted)
		if err := h.lifting(h.agent("bob"), k.Task, "kids"); err != nil { // it asked for the child
			h.Error(err)
		}
		must(h, "the requester lifts an operator's", h.lifting(h.agent("ann"), r.Task, "boss"), refusal.NotPermitted, "operator")
		if err := h.lifting(h.agent("ann"), r.Task, "added"); err != nil {
			h.Error(err)
		}
	})
}

func TestAnOddConstraintOfTheRecordHindersNothing(t *testing.T) {
	story(t, func(h *harness) {
		h.join("bob", "cyd")
		r := h.create(h.agent("bob"), tasks.CreateInput{Intent: "write", Start: true})
		odd := event.Constraint{
			ID: "nо‑prod", Kind: event.ConstraintBudget, Text: "a\nb\u202e" + strings.Repeat("c", 1900), Max: limit(-5), Allow: []string{"x]:", "y"}, Origin: "agent/zed",
		}
		h.writes(r.Task, event.Constrained{Constraint: odd})
		tight := odd
		tight.Allow, tight.Origin = []string{"x]:"}, ""
		if err := h.setting(h.agent("bob"), r, tight); err != nil {
			h.Error(err)
		}
		must(h, "its look-alike", h.setting(h.agent("bob"), r, event.Constraint{ID: "no-prod", Kind: event.ConstraintFormat, Text: "x"}), refusal.Conflict)
		h.send(h.agent("bob"), r, handoffs.SendInput{To: []string{"cyd"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "a part"}})
		c := h.acceptPrompt("cyd")
		if !strings.Contains(c.Content.Prompt, "Added by agents") || !strings.Contains(c.Content.Prompt, "at most -5") {
			h.Errorf("cyd reads\n%s", c.Content.Prompt)
		}
		ok(h, h.agent("cyd"), func(by caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Complete(ctx(h), by, tasks.CompleteInput{Task: c.Task, Epoch: c.Epoch, Result: event.Result{Text: "done"}})
		})
		h.inState(r.Task, event.Executing)
	})
}
