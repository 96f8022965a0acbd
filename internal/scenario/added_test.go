package scenario

import (
	"fmt"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// delegated delegates a task to an agent, which accepts.
func (h *harness) delegated(from string, r taskstore.Receipt, to string) tasks.Accepted {
	h.Helper()
	h.send(h.agent(from), r, handoffs.SendInput{To: []string{to}, Kind: event.Delegation, Content: envelopes.Content{Ask: "a part"}})
	return h.acceptPrompt(to)
}

func rule(id, text string) event.Constraint {
	return event.Constraint{ID: id, Kind: event.ConstraintFormat, Text: text}
}

// set sets constraints that are accepted.
func (h *harness) set(agent string, r taskstore.Receipt, ks ...event.Constraint) {
	h.Helper()
	for _, k := range ks {
		if err := h.setting(h.agent(agent), r, k); err != nil {
			h.Fatalf("%s sets %s: %v", agent, k.ID, err)
		}
	}
}

// bound waits until a task has a constraint of an id, or has it no more.
func (h *harness) bound(task, id string, is bool) {
	h.Helper()
	h.until(task, fmt.Sprintf("bound by %s: %v", id, is), func(t taskstore.Task) bool { return (t.FindConstraint(id) >= 0) == is })
}

func TestWhatIsLiftedInAParentIsLiftedInItsDescendants(t *testing.T) {
	story(t, func(h *harness) {
		h.join("bob", "cyd", "dan")
		h.create(h.operator(), tasks.CreateInput{Intent: "write", Constraints: []event.Constraint{rule("page", "One page.")}, Send: &handoffs.SendInput{To: []string{"bob"}}})
		b := h.accept("bob", h.wait("bob"))
		h.set("bob", b.Receipt, rule("vowels", "No vowels."), rule("rhyme", "In rhyme."))
		c := h.delegated("bob", b.Receipt, "cyd")
		d := h.delegated("cyd", c.Receipt, "dan")
		h.set("dan", d.Receipt, rule("own", "No adverbs."))
		for _, id := range []string{"vowels", "page"} {
			if err := h.lifting(h.operator(), b.Task, id); err != nil {
				h.Fatal(err)
			}
			h.bound(c.Task, id, false)
			h.bound(d.Task, id, false)
		}
		for _, id := range []string{"rhyme", "own"} {
			h.bound(d.Task, id, true)
		}
		must(h, "dan lifts what bob added", h.lifting(h.agent("dan"), d.Task, "rhyme"), refusal.NotPermitted)
	})
}

func TestTheRuleOfARequesterStaysItsRule(t *testing.T) {
	story(t, func(h *harness) {
		h.join("bob", "cyd")
		spend := event.Constraint{ID: "spend", Kind: event.ConstraintBudget, Text: "euros", Max: limit(100)}
		langs := event.Constraint{ID: "langs", Kind: event.ConstraintFormat, Text: "languages", Allow: []string{"de", "fr", "it"}}
		h.create(h.operator(), tasks.CreateInput{Intent: "translate", Constraints: []event.Constraint{spend, langs}, Send: &handoffs.SendInput{To: []string{"bob"}}})
		b := h.accept("bob", h.wait("bob"))
		spend.Max, langs.Allow = limit(99.99), []string{"it", "de", "fr"}
		before := h.task(b.Task).Position
		h.set("bob", b.Receipt, langs)
		if now := h.task(b.Task); now.Position != before {
			h.Errorf("a list in another order is a change: %+v", now.Constraints)
		}
		h.set("bob", b.Receipt, spend)
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}})
		p := readPrompt(h, h.acceptPrompt("cyd").Content.Prompt)
		want := "spend (budget, should, at most 99.99 [tightened by bob], operator/ann) euros\n" +
			"langs (format, should, only de fr it, operator/ann) languages\n"
		if got := p.sections["Constraints"]; got != want || p.sections["Added by agents"] != "" {
			h.Errorf("cyd reads\n%s\nwant\n%s", p.text, want)
		}
	})
}
