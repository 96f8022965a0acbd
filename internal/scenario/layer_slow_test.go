//go:build slow || outside

package scenario

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// TestAReceiverReadsTheRuleOfItsSetterAfterEveryLift hands a task on at random while its owners and its requester tighten a rule and the
// requester lifts what owners have tightened. A receiver reads no more as allowed than the one before, unless something was lifted, and never more than
// the requester's rule; at the end, after the last lift, exactly that.
func TestAReceiverReadsTheRuleOfItsSetterAfterEveryLift(t *testing.T) {
	subset := func(t *rapid.T, name string) []string {
		if rapid.IntRange(0, 2).Draw(t, name+" kind") == 0 {
			return nil
		}
		return rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3, rapid.ID).Draw(t, name)
	}
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd")
		rapid.Check(h, func(t *rapid.T) {
			base := event.Constraint{ID: "k", Kind: event.ConstraintSecurity, Text: "systems", Allow: subset(t, "allow")}
			r := h.create(h.agent("ann"), tasks.CreateInput{
				Intent: "work", Start: true, Constraints: []event.Constraint{base}, Limits: event.Limits{Hops: 50, Handoffs: 50, Visits: 50},
			})
			owner, before, lifted := "ann", inDocument(envelope.Envelope{}), false
			hand := func(to string) []string {
				r = h.send(h.agent(owner), r, handoffs.SendInput{To: []string{to}, Content: envelopes.Content{Decisions: []envelopes.Point{{Text: "go on"}}}})
				a := h.acceptPrompt(to)
				r, owner = a.Receipt, to
				doc, prompt := inDocument(packed(h, *a.Content)), inPrompt(a.Content.Prompt)
				if more := doc.noMore(before); more != "" && !lifted {
					t.Fatal(more)
				}
				if d, p := jsonOf(doc.allow["k"]), jsonOf(prompt.allow["k"]); d != p || !within(doc.allow["k"], base.Allow) {
					t.Fatalf("the envelope allows %s, the prompt %s, the requester %s", d, p, jsonOf(base.Allow))
				}
				before, lifted = doc, false
				return doc.allow["k"]
			}
			other := func() string {
				if owner == "bob" {
					return "cyd"
				}
				return "bob"
			}
			hand("bob")
			for range rapid.IntRange(1, 6).Draw(t, "steps") {
				k := base
				k.Allow = subset(t, "allow")
				switch rapid.IntRange(0, 3).Draw(t, "step") {
				case 0:
					hand(other())
				case 1: // a refusal changes nothing
					_ = h.setting(h.agent(owner), r, k)
				case 2:
					if h.setting(h.agent("ann"), taskstore.Receipt{Task: r.Task}, k) == nil {
						base = k
					}
				case 3:
					err := h.liftingLayer(h.agent("ann"), r.Task, "k", rapid.SampledFrom([]string{"bob", "cyd"}).Draw(t, "tightened by"))
					lifted = lifted || err == nil
				}
			}
			for _, by := range []string{"bob", "cyd"} {
				lifted = h.liftingLayer(h.agent("ann"), r.Task, "k", by) == nil || lifted
			}
			if got := hand(other()); !within(got, base.Allow) || !within(base.Allow, got) {
				t.Fatalf("after all lifts %s is allowed, and %s is the rule", jsonOf(got), jsonOf(base.Allow))
			}
		})
	})
}
