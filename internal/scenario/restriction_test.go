package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/drift"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// within reports whether next allows no more than prev.
func within(next, prev []string) bool {
	if prev == nil {
		return true
	}
	return next != nil && !slices.ContainsFunc(next, func(s string) bool { return !slices.Contains(prev, s) })
}

func TestAnAllowListTightenedToNothingAllowsNothing(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "kid")
		rule := event.Constraint{ID: "lang", Kind: event.ConstraintFormat, Text: "languages", Allow: []string{"de", "en"}}
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "translate", Start: true, Constraints: []event.Constraint{rule}})
		rule.Allow = []string{}
		ok(h, h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Constrain(ctx(h), c, tasks.ConstrainInput{Task: r.Task, Epoch: r.Epoch, Constraint: rule})
		})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		b := h.acceptPrompt("bob")
		if want := "lang (format, should, only: nothing is allowed"; !strings.Contains(b.Content.Prompt, want) {
			h.Errorf("the prompt does not say %q:\n%s", want, b.Content.Prompt)
		}
		if k := packed(h, *b.Content).Constraints[0]; k.Allow == nil || len(k.Allow) > 0 {
			h.Errorf("the envelope allows %#v", k.Allow)
		}
		changed := h.drift(h.agent("bob"), r.Task).Hops[0].Constraints.Changed
		if len(changed) != 1 || changed[0].How != drift.Tightened || !strings.Contains(changed[0].Before, "de en") || !strings.Contains(changed[0].After, "nothing is allowed") {
			h.Errorf("the drift report says %+v", changed)
		}
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "a part"}})
		if k := h.acceptPrompt("kid"); !strings.Contains(k.Content.Prompt, "only: nothing is allowed") {
			h.Errorf("the child's prompt is\n%s", k.Content.Prompt)
		}
	})
}

func TestNoPermissionsAreReadAsNone(t *testing.T) {
	const none = "\n- Your permissions: none\n"
	reads := func(h *harness, what, agent string) taskstore.Receipt {
		h.Helper()
		a := h.acceptPrompt(agent)
		if !strings.Contains(a.Content.Prompt, none) {
			h.Errorf("%s: the prompt does not say so:\n%s", what, a.Content.Prompt)
		}
		if got := packed(h, *a.Content).Handoff.Permissions; got == nil || len(got) > 0 {
			h.Errorf("%s: the envelope has %#v", what, got)
		}
		return a.Receipt
	}
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd", "kid")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "look", Permissions: []string{}, Send: &handoffs.SendInput{To: []string{"bob"}}})
		b := reads(h, "a task created with none", "bob")
		h.send(h.agent("bob"), b, handoffs.SendInput{To: []string{"cyd"}, Content: envelopes.Content{Decisions: []envelopes.Point{{Text: "go on"}}}})
		c := reads(h, "its next receiver", "cyd")
		_, err := call(h.agent("cyd"), func(c2 caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Send(ctx(h), c2, handoffs.SendInput{Task: r.Task, Epoch: c.Epoch, To: []string{"ann"}, Permissions: []string{"read"}})
		})
		must(h, "permissions from nothing", err, refusal.NotPermitted, `has no permission "read"`)
		h.send(h.agent("cyd"), c, handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "a part"}})
		reads(h, "a child of it", "kid")

		r = h.create(h.agent("ann"), tasks.CreateInput{Intent: "look again", Permissions: []string{"read", "write"}, Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation, Permissions: []string{}, Content: envelopes.Content{Ask: "a part"}})
		reads(h, "a child that is given none", "kid")

		r = h.create(h.agent("ann"), tasks.CreateInput{Intent: "look once more", Permissions: []string{"read", "write"}, Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Permissions: []string{}})
		reads(h, "a handoff that passes on none", "bob")
		if got := h.task(r.Task).Permissions; got == nil || len(got) > 0 {
			h.Errorf("the task has %#v", got)
		}
	})
}
