package scenario

import (
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

// liftingLayer tries to lift what a principal has tightened of a constraint.
func (h *harness) liftingLayer(by caller.Caller, task, id, tightenedBy string) error {
	_, err := call(by, func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.Lift(ctx(h), c, tasks.LiftInput{Task: task, ID: id, TightenedBy: tightenedBy, Why: "the customer reads both"})
	})
	return err
}

func TestTheRequesterLiftsWhatAnAgentTightenedOfItsRule(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd", "dan")
		langs := event.Constraint{ID: "langs", Kind: event.ConstraintFormat, Text: "languages", Allow: []string{"de", "en"}}
		page := rule("page", "One page.")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "translate", Start: true, Constraints: []event.Constraint{langs, page}})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		b := h.acceptPrompt("bob")
		none := langs
		none.Allow = []string{}
		h.set("bob", b.Receipt, none)
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}})
		c := h.acceptPrompt("cyd")
		if want := "langs (format, should, only: nothing is allowed [tightened by bob], by ann) languages\n"; !strings.Contains(c.Content.Prompt, want) {
			h.Fatalf("cyd reads\n%s", c.Content.Prompt)
		}

		must(h, "cyd lifts what bob tightened", h.liftingLayer(h.agent("cyd"), r.Task, "langs", "bob"), refusal.NotPermitted, "ask ann")
		must(h, "what nobody tightened", h.liftingLayer(h.agent("ann"), r.Task, "langs", "dan"), refusal.NotFound, "by bob")
		if err := h.liftingLayer(h.agent("ann"), r.Task, "langs", "bob"); err != nil {
			h.Fatal(err)
		}
		if err := h.lifting(h.agent("ann"), r.Task, "page"); err != nil {
			h.Fatal(err)
		}
		// The requester adds another rule and tightens its own while cyd owns the task.
		more := rule("short", "Short words.")
		fewer := langs
		fewer.Allow = []string{"en"}
		h.set("ann", taskstore.Receipt{Task: r.Task}, more)
		h.set("ann", taskstore.Receipt{Task: r.Task, Epoch: c.Epoch}, fewer)
		must(h, "it loosens its own", h.setting(h.agent("ann"), taskstore.Receipt{Task: r.Task}, langs), refusal.Conflict, "lift it and set it again")
		must(h, "an agent that does not own it", h.setting(h.agent("bob"), taskstore.Receipt{Task: r.Task}, rule("mine", "x")), refusal.NotOwner)
		must(h, "an old epoch", h.setting(h.agent("ann"), taskstore.Receipt{Task: r.Task, Epoch: c.Epoch - 1}, rule("mine", "x")), refusal.StaleEpoch)

		h.send(h.agent("cyd"), c.Receipt, handoffs.SendInput{To: []string{"dan"}})
		d := h.acceptPrompt("dan")
		want := "langs (format, should, only en, by ann) languages\nshort (format, should, by ann) Short words.\n"
		p := readPrompt(h, d.Content.Prompt)
		if got := p.sections["Constraints"]; got != want || p.sections["Added by agents"] != "" {
			h.Errorf("dan is bound by\n%s\nwant\n%s", got, want)
		}
		for _, told := range []string{
			"lifted what bob tightened of constraint langs", "only: nothing is allowed → only de en: the customer reads both", "lifted constraint page (“One page.”): ",
		} {
			if !strings.Contains(d.Content.Prompt, told) {
				h.Errorf("dan does not read %q:\n%s", told, d.Content.Prompt)
			}
		}
		report := h.drift(h.agent("ann"), r.Task)
		last := report.Hops[len(report.Hops)-1].Constraints
		if len(last.Dropped) > 0 || len(last.Changed) != 2 {
			h.Fatalf("the drift report says %+v", last)
		}
		for _, ch := range last.Changed {
			layer := ch.ID == "langs"
			if ch.How != drift.Lifted || ch.By != "ann" || layer != (ch.TightenedBy == "bob") || layer != strings.Contains(ch.After, "[only en]") ||
				layer != strings.Contains(ch.Before, "[only: nothing is allowed]") {
				h.Errorf("the drift report says %+v", ch)
			}
		}
		if k := report.Retention.Constraints; k.Rate != 1 {
			h.Errorf("a lifted rule counts as lost: %+v", k)
		}
		if table := drift.Table(report); !strings.Contains(table, "constraint langs lifted by ann, what bob tightened:") ||
			!strings.Contains(table, "constraint page lifted by ann: \"One page. [no limits]\"") {
			h.Errorf("the table is\n%s", table)
		}
	})
}

func TestALiftOfWhatWasTightenedReachesTheChildren(t *testing.T) {
	story(t, func(h *harness) {
		h.join("bob", "cyd", "dan", "eve")
		spend := event.Constraint{ID: "spend", Kind: event.ConstraintBudget, Text: "euros", Max: limit(100)}
		h.create(h.operator(), tasks.CreateInput{Intent: "write", Constraints: []event.Constraint{spend}, Send: &handoffs.SendInput{To: []string{"bob"}}})
		b := h.accept("bob", h.wait("bob"))
		c := h.delegated("bob", b.Receipt, "cyd")
		most := func(v float64) event.Constraint { k := spend; k.Max = limit(v); return k }
		has := func(task string, v float64) {
			h.Helper()
			h.until(task, "bound", func(t taskstore.Task) bool { return len(t.Constraints) == 1 && *t.Constraints[0].Max == v })
		}
		h.set("cyd", c.Receipt, most(30))
		d := h.delegated("cyd", c.Receipt, "dan") // from cyd's own rule on
		h.set("bob", b.Receipt, most(40))         // looser than cyd's, in the parent
		h.set("dan", d.Receipt, most(20))
		if err := h.liftingLayer(h.agent("bob"), c.Task, "spend", "cyd"); err != nil { // it asked for the child
			h.Fatal(err)
		}
		has(c.Task, 40)
		has(d.Task, 20) // dan's own stays
		must(h, "dan lifts what bob tightened", h.liftingLayer(h.agent("dan"), d.Task, "spend", "bob"), refusal.NotFound)
		if err := h.liftingLayer(h.agent("dan"), d.Task, "spend", "dan"); err != nil {
			h.Fatal(err)
		}
		has(d.Task, 40)
		if err := h.liftingLayer(h.operator(), b.Task, "spend", "agent/bob"); err != nil {
			h.Fatal(err)
		}
		for _, task := range []string{b.Task, c.Task, d.Task} {
			has(task, 100)
		}
		h.send(h.agent("dan"), d.Receipt, handoffs.SendInput{To: []string{"eve"}, Content: envelopes.Content{Decisions: []envelopes.Point{{Text: "go on"}}}})
		e := h.acceptPrompt("eve")
		if want := "spend (budget, should, at most 100, operator/ann) euros\n"; !strings.Contains(e.Content.Prompt, want) || !strings.Contains(e.Content.Prompt, "lifted what bob tightened of constraint spend") {
			h.Errorf("eve reads\n%s", e.Content.Prompt)
		}
	})
}
