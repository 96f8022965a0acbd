package scenario

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func (h *harness) share(by caller.Caller, r taskstore.Receipt, in tasks.ShareInput) taskstore.Receipt {
	h.Helper()
	in.Task, in.Epoch = r.Task, r.Epoch
	return ok(h, by, func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tasks.Share(ctx(h), c, in) })
}

// must is a refusal that a call is to get: of a code, with a hint, and saying something.
func must(t testing.TB, what string, err error, code refusal.Code, says ...string) {
	t.Helper()
	no, is := refusal.As(err)
	if !is || no.Code != code || no.Hint == "" {
		t.Errorf("%s: got %v, want %s with a hint", what, err, code)
		return
	}
	hint := help.Explain(no.Hint, no.Helps, help.Help.Command) // as at a shell
	for _, s := range says {
		if !strings.Contains(no.Message+"\n"+hint, s) {
			t.Errorf("%s: %q, %q does not say %q", what, no.Message, hint, s)
		}
	}
}

func TestAPinSurvivesOtherWords(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann")
		for _, n := range []string{"bob", "cyd", "dee"} {
			h.register(n, agents.AgentSpec{ContextWindow: 2000})
		}
		h.register("wide", agents.AgentSpec{ContextWindow: 100_000})
		why := strings.Repeat(" It depends on the weather, one might say.", 10)
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "the build is red", Start: true, Content: much()}) // f33 is pinned
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		b := h.acceptPrompt("bob")
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}, Content: envelopes.Content{
			Facts: []envelopes.Point{{ID: "f33", Text: "Only some of them fail." + why, Importance: 0.01}}, Decisions: []envelopes.Point{{Text: "bisect"}},
		}})
		c := h.acceptPrompt("cyd")
		if !strings.Contains(c.Content.Prompt, "Only some of them fail.") {
			h.Errorf("bob says it in other words, and the pin is gone:\n%s", c.Content.Prompt)
		}
		h.send(h.agent("cyd"), c.Receipt, handoffs.SendInput{To: []string{"dee"}, Content: envelopes.Content{
			Facts: []envelopes.Point{{ID: "g1", Text: "None fails." + why, Supersedes: "f33", Importance: 0.01}}, Decisions: []envelopes.Point{{Text: "go on"}},
		}})
		d := h.acceptPrompt("dee")
		if !strings.Contains(d.Content.Prompt, "\ng1 None fails.") {
			h.Errorf("cyd puts another fact in its place, and the pin is gone:\n%s", d.Content.Prompt)
		}
		hops := h.drift(h.agent("dee"), r.Task).Hops
		if f := hops[len(hops)-1].Facts; len(f.Changed) != 1 || f.Changed[0].Was != "f33" || f.Changed[0].After != "None fails."+why {
			h.Errorf("nobody is told what cyd did: %+v", f.Changed)
		}
	})
}

func TestAChildIsPackedAsItsSenderWishes(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "kid")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "the build is red", Start: true, Content: much()})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "look"}, Pack: event.Pack{Tokens: 700, Pinned: []string{"fact:f7"}}})
		k := h.acceptPrompt("kid")
		if doc := packed(h, *k.Content); doc.Packing.Budget != 700 || !strings.Contains(k.Content.Prompt, "Fact 7:") {
			h.Errorf("the child is packed as %+v", doc.Packing)
		}
	})
}

func TestWhatWasSharedOnTheWayIsNoHop(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd", "eve")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "write", Start: true, Content: envelopes.Content{Facts: []envelopes.Point{{ID: "a", Text: "one"}}}})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		h.share(h.agent("ann"), r, tasks.ShareInput{To: "eve", Content: envelopes.Content{Facts: []envelopes.Point{{ID: "b", Text: "for eve"}}}})
		shared := h.waitFor("eve", func(i view.Item) bool { return i.Type == view.ItemShare })
		b := h.acceptPrompt("bob")
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}, Content: envelopes.Content{Facts: []envelopes.Point{{ID: "c", Text: "two"}}}})
		h.acceptPrompt("cyd")
		h.content(h.agent("eve"), envelopes.ContentInput{ID: shared.ID}) // what is packed for eve comes after what moved on
		report := h.drift(h.agent("cyd"), r.Task)
		if n := len(report.Hops); n != 2 || report.Hops[1].From != "bob" || report.Retention.Facts.Introduced != 2 || report.Retention.Facts.Rate != 1 {
			h.Errorf("what eve alone was told counts as lost: %+v", report)
		}
	})
}

func TestWhoLetsGoDoesNotSayMoreThanTheReceiverCanRead(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann")
		h.register("bob", agents.AgentSpec{ContextWindow: 1000})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "short", Start: true})
		r = h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Confirm: event.ConfirmExplicit})
		h.accept("bob", h.wait("bob"))
		confirm := func(ask string) error {
			_, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Confirm(ctx(h), c, tasks.ConfirmInput{Handoff: r.Handoff, Epoch: r.Epoch, Content: envelopes.Content{Ask: ask}})
			})
			return err
		}
		must(h, "an ask that bob cannot read", confirm(strings.Repeat("and then ", 1000)), refusal.Budget, "tokens")
		if err := confirm("read it"); err != nil {
			h.Fatal(err)
		}
		if got := h.content(h.agent("bob"), envelopes.ContentInput{ID: r.Task, Render: true}); !strings.Contains(got.Prompt, "read it") {
			h.Errorf("bob gets %s", got.Prompt)
		}
		_, err := call(h.agent("bob"), func(c caller.Caller) (taskstore.Receipt, error) {
			t := h.task(r.Task)
			return h.app.Tasks.Share(ctx(h), c, tasks.ShareInput{Task: r.Task, Epoch: t.Epoch, To: "bob", Content: envelopes.Content{Ask: strings.Repeat("and; ", 800)}})
		})
		must(h, "a share that bob cannot read", err, refusal.Budget, "tokens")
	})
}

// words is so many bytes of data.
func words(n int) json.RawMessage {
	return json.RawMessage(`"` + strings.Repeat("word ", n/5) + `"`)
}

func TestAColdHandoffLeavesAllButWhatBindsBehindAndTheReportSaysSo(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd")
		rule := event.Constraint{ID: "no-prod", Kind: event.ConstraintProhibition, Text: "Never touch production.", Hard: true}
		pinned := h.remember(h.operator(), memories.RememberInput{Text: "Mind the gap.", Scope: memory.Workspace, Pinned: true})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "the build is red", Start: true, Content: much(), Constraints: []event.Constraint{rule}})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Kind: event.Cold, Content: envelopes.Content{Ask: "look"}})
		b := h.acceptPrompt("bob")
		for _, bound := range []string{rule.Text, "the build is red", "look", "This is a cold handoff"} {
			if !strings.Contains(b.Content.Prompt, bound) {
				h.Errorf("bob is not told %q", bound)
			}
		}
		if strings.Contains(b.Content.Prompt, "Fact 33") || strings.Contains(b.Content.Prompt, "Mind the gap.") {
			h.Errorf("a cold handoff is warm:\n%s", b.Content.Prompt)
		}
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}, Content: envelopes.Content{Decisions: []envelopes.Point{{Text: "go on"}}}})
		c := h.acceptPrompt("cyd")
		if !strings.Contains(c.Content.Prompt, "Mind the gap.") {
			h.Errorf("what is pinned is not back:\n%s", c.Content.Prompt)
		}
		if hops := h.drift(h.agent("cyd"), r.Task).Hops; len(hops) != 0 && len(hops[0].Facts.Dropped) != 0 {
			h.Errorf("cyd reads in the report what bob was not given: %+v", hops)
		}
		report := h.drift(h.agent("ann"), r.Task) // requested the task
		if f := report.Hops[0].Facts; len(f.Dropped) != 40 || len(f.Kept)+len(f.Omitted) != 0 {
			h.Errorf("the report says of the cold hop: %s", f)
		}
		if m := report.Hops[1].References; len(report.Hops) != 2 || len(m.Added) != 1 || m.Added[0] != pinned.ID {
			h.Errorf("the report says of memory: %+v", report.Hops)
		}
		if k := report.Retention; k.Facts.Surviving != 0 || k.Facts.Introduced != 40 || k.Constraints.Rate != 1 || k.Intent.Rate != 1 {
			h.Errorf("retention: %+v", k)
		}
	})
}
