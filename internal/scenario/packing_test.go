package scenario

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/trapezehq/trapeze/internal/content/drift"
	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/fetchcall"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// acceptPrompt takes an offer and the prompt that comes with it.
func (h *harness) acceptPrompt(agent string) tasks.Accepted {
	h.Helper()
	item := h.wait(agent)
	got := ok(h, h.agent(agent), func(c caller.Caller) (tasks.Accepted, error) {
		return h.app.Tasks.Accept(ctx(h), c, tasks.AcceptInput{Handoff: item.ID, Offer: item.Offer, Render: true})
	})
	if got.Content == nil {
		h.Fatalf("%s accepted and got no content: %+v", agent, got.Receipt)
	}
	return got
}

func (h *harness) content(by caller.Caller, in envelopes.ContentInput) envelopes.Sheet {
	h.Helper()
	return ok(h, by, func(c caller.Caller) (envelopes.Sheet, error) { return h.app.Envelopes.Fetch(ctx(h), c, in) })
}

func (h *harness) constrain(by caller.Caller, task string, k event.Constraint) taskstore.Receipt {
	h.Helper()
	return ok(h, by, func(c caller.Caller) (taskstore.Receipt, error) {
		return h.app.Tasks.Constrain(ctx(h), c, tasks.ConstrainInput{Task: task, Constraint: k})
	})
}

func (h *harness) drift(by caller.Caller, task string) drift.Report {
	h.Helper()
	return ok(h, by, func(c caller.Caller) (drift.Report, error) { return h.app.History.Drift(ctx(h), c, task) })
}

// packed opens what an agent was given, and checks that the prompt is what it says.
func packed(t testing.TB, s envelopes.Sheet) envelope.Envelope {
	t.Helper()
	doc, digest, err := envelope.Open(s.Envelope)
	if err != nil || digest != s.Digest {
		t.Fatalf("what was given is not what it says: %s, %v", digest, err)
	}
	counter, err := tokenizer.For(doc.Packing.Tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	if n := counter.Count(s.Prompt); !doc.Packing.IsZero() && n != doc.Packing.Tokens || doc.Packing.Budget > 0 && n > doc.Packing.Budget {
		t.Errorf("the prompt has %d tokens: %+v", n, doc.Packing)
	}
	return doc
}

// much is content of several thousand tokens.
func much() envelopes.Content {
	c := envelopes.Content{Ask: "fix the build", Summary: strings.Repeat("They talked about the build. ", 20), Questions: []string{"Which compiler?"}}
	for i := range 40 {
		c.Facts = append(c.Facts, envelopes.Point{ID: fmt.Sprintf("f%d", i), Text: fmt.Sprintf("Fact %d: %s", i, strings.Repeat("the build fails on arm. ", 6)), Pinned: i == 33})
	}
	return c
}

func TestAReceiverGetsWhatFitsItAndWhatWasLeftOutCanBeFetched(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann")
		h.register("bob", agents.AgentSpec{ContextWindow: 2000})
		h.register("cyd", agents.AgentSpec{ContextWindow: 1200, Tokenizer: "cl100k_base"})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "the build is red", Start: true, Content: much()})
		before := ok(h, h.agent("ann"), func(c caller.Caller) (tasks.Preview, error) {
			return h.app.Tasks.Preview(ctx(h), c, tasks.PreviewInput{Task: r.Task, To: "bob", Content: much()})
		})
		if !strings.Contains(before.Prompt, "# Left out (once you accept)\n") || strings.Contains(before.Prompt, "/parts?") {
			h.Errorf("the preview of what is not sealed names calls that are refused:\n%s", before.Prompt)
		}
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Detail: "you know compilers"})
		offer := h.wait("bob").ID
		if early := h.content(h.agent("bob"), envelopes.ContentInput{ID: offer, Render: true, Via: fetchcall.ViaMCP}); !strings.Contains(early.Prompt, "# Left out (once you accept)\n") || strings.Contains(early.Prompt, "parts=") {
			h.Errorf("what bob reads before it accepts names calls that are refused:\n%s", early.Prompt)
		}
		_, err := h.app.Envelopes.Parts(ctx(h), h.agent("bob"), envelopes.PartsInput{ID: offer, Parts: []string{"all"}})
		must(h, "parts of an offer", err, refusal.NotPermitted, "accept")
		b := h.acceptPrompt("bob")
		doc := packed(h, *b.Content)
		if doc.Packing.Budget != 1000 || len(doc.Omissions) == 0 || len(doc.KeyFacts) == 40 || len(doc.KeyFacts) == 0 {
			h.Errorf("half of bob's window is 1000 tokens: %+v, %d facts", doc.Packing, len(doc.KeyFacts))
		}
		for _, must := range []string{"the build is red", "fix the build", "Which compiler?", "Fact 33"} {
			if !strings.Contains(b.Content.Prompt, must) {
				h.Errorf("bob's prompt lacks %q", must)
			}
		}
		if b.Given != b.Content.Digest || b.Content.Source != b.Envelope || doc.Parent != b.Envelope {
			h.Errorf("what bob was given does not name what was sent: %+v", b.Receipt)
		}
		whole := packed(h, h.content(h.agent("bob"), envelopes.ContentInput{ID: b.Task, Source: true}))
		if len(whole.KeyFacts) != 40 || !whole.Packing.IsZero() {
			h.Errorf("bob fetches %d facts", len(whole.KeyFacts))
		}
		if again := h.content(h.agent("bob"), envelopes.ContentInput{ID: b.Task}); again.Digest != b.Given {
			h.Error("bob was given one thing, and reads another")
		}
		if seen := h.content(h.as(identity.Auditor, "kim"), envelopes.ContentInput{ID: b.Handoff, Render: true}); seen.Digest != b.Given || seen.Source != b.Envelope || seen.Prompt != b.Content.Prompt {
			h.Error("an auditor is not shown what bob read")
		}
		if sent := h.content(h.operator(), envelopes.ContentInput{ID: b.Handoff, Source: true}); sent.Digest != b.Envelope {
			h.Error("an operator is not shown what was sent to bob")
		}
		h.progress("bob", b.Receipt, "found the flag")
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}})
		c := h.acceptPrompt("cyd")
		if doc := packed(h, *c.Content); doc.Packing.Budget != 600 || doc.Packing.Tokenizer != "cl100k_base" {
			h.Errorf("cyd has a window of its own: %+v", doc.Packing)
		}
		if seen := h.content(h.as(identity.Auditor, "kim"), envelopes.ContentInput{ID: b.Handoff, Render: true}); seen.Digest != b.Given || seen.Source != b.Envelope || seen.Prompt != b.Content.Prompt {
			h.Error("an auditor is no longer shown what bob read")
		}
		if sent := h.content(h.operator(), envelopes.ContentInput{ID: b.Handoff, Source: true}); sent.Digest != b.Envelope {
			h.Error("an operator is no longer shown what was sent to bob")
		}
		if _, err := known(h, h.agent("bob"), h.app.Envelopes.Fetch, envelopes.ContentInput{ID: b.Handoff}); refusal.CodeOf(err) != refusal.Expired {
			h.Errorf("bob, who has let go of it: %v", err)
		}
		report := h.drift(h.agent("cyd"), r.Task)
		last := report.Hops[len(report.Hops)-1]
		if len(last.Facts.Dropped) != 0 || len(last.Facts.Omitted)+len(last.Facts.Kept) != 40 || last.Budget != 600 || last.Utilisation <= 0.5 {
			h.Errorf("the last hop: %+v", last)
		}
		if k := report.Retention; k.Intent.Rate != 1 || k.Facts.Surviving+k.Facts.Omitted != 40 {
			h.Errorf("retention: %+v", k)
		}
	})
}

func TestABudgetThatIsTooSmallIsRefusedOrPassedOver(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "wide")
		h.register("tiny", agents.AgentSpec{ContextWindow: 40})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: strings.Repeat("a long request ", 50), Start: true})
		_, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Send(ctx(h), c, handoffs.SendInput{Task: r.Task, Epoch: r.Epoch, To: []string{"wide"}, Pack: event.Pack{Tokens: 50}})
		})
		no, _ := refusal.As(err)
		if no == nil || no.Code != refusal.Budget || no.Details["needed"] == nil {
			h.Fatalf("50 tokens for a long request: %v", err)
		}
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"tiny", "wide"}})
		h.empty("tiny")
		if got := h.acceptPrompt("wide"); got.Content.Source != "" {
			h.Error("wide has no window, and something was packed for it")
		}
	})
}

func TestADelegateIsMeasuredByWhatItWillRead(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "lad")
		// Of the larger task the delegate reads the beginning alone.
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: strings.Repeat("a long request ", 500), Start: true})
		h.register("kid", agents.AgentSpec{ContextWindow: 800})
		part := handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "Count the beams."}}
		sent := h.send(h.agent("ann"), r, part)
		kid := h.acceptPrompt("kid")
		if n := envelopes.Tokens(kid.Content.Prompt); sent.Sealed == nil || sent.Sealed.Tokens != n || sent.Sealed.Budget != 400 {
			h.Errorf("the sender was told %+v, and the delegate reads %d tokens", sent.Sealed, n)
		}
		// Of a short one it reads more than its owner does, since it is told where its result goes.
		r = h.create(h.agent("ann"), tasks.CreateInput{Intent: "Fix the roof.", Start: true})
		delegate := func(tokens int) error {
			part.Task, part.Epoch, part.To, part.Pack.Tokens = r.Task, r.Epoch, []string{"lad"}, tokens
			_, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tasks.Send(ctx(h), c, part) })
			return err
		}
		needed := 0
		if no, _ := refusal.As(delegate(20)); no != nil {
			needed, _ = no.Details["needed"].(int)
		}
		must(h, "a token less than needed", delegate(needed-1), refusal.Budget)
		if err := delegate(needed); err != nil {
			h.Fatalf("as many tokens as needed: %v", err)
		}
		if n := envelopes.Tokens(h.acceptPrompt("lad").Content.Prompt); n != needed {
			h.Errorf("%d tokens were needed, and the delegate reads %d", needed, n)
		}
	})
}

func TestAReplayIsPackedAsTheSenderWished(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		none := 0
		in := handoffs.SendInput{
			To: []string{"bob"}, Retries: &none, Timeouts: event.Timeouts{Offer: event.Duration(time.Minute)},
			Pack: event.Pack{Strategy: "lazy", Pinned: []string{"fact:f7"}},
		}
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "the build is red", Start: true, Content: much()})
		r = h.send(h.agent("ann"), r, in)
		h.inState(r.Task, event.Parked)
		ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Replay(ctx(h), c, tasks.ReplayInput{Task: r.Task})
		})
		doc := packed(h, *h.acceptPrompt("bob").Content)
		if doc.Packing.Strategy != event.StrategyLazy || len(doc.KeyFacts) != 2 || doc.KeyFacts[0].ID != "f7" || doc.KeyFacts[1].ID != "f33" {
			h.Errorf("packed by %q with the facts %+v", doc.Packing.Strategy, doc.KeyFacts)
		}
	})
}

func TestAConstraintReachesTheNextOwner(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "kid")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "ship it", Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		late := event.Constraint{ID: "no-friday", Kind: event.ConstraintProhibition, Text: "Never on a Friday.", Hard: true}
		h.constrain(h.operator(), r.Task, late) // the offer is open, its envelope sealed
		b := h.acceptPrompt("bob")
		if !strings.Contains(b.Content.Prompt, late.Text) {
			h.Errorf("the offer was open, and bob never heard of it:\n%s", b.Content.Prompt)
		}
		p := h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "write the notes"}})
		k := h.acceptPrompt("kid")
		later := event.Constraint{ID: "no-names", Kind: event.ConstraintSecurity, Text: "No customer names."}
		h.constrain(h.operator(), r.Task, later) // the child has begun
		h.until(p.Children[0], "bound by both", func(t taskstore.Task) bool { return len(t.Constraints) == 2 })
		if c := h.task(k.Task).Constraints[1]; c.Origin != "operator/ann" {
			h.Errorf("the child's constraint comes from %s", c.Origin)
		}
		if _, err := call(h.agent("kid"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Lift(ctx(h), c, tasks.LiftInput{Task: k.Task, ID: "no-names", Why: "in the way"})
		}); refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("a child's holder lifts its parent's constraint: %v", err)
		}
		h.send(h.agent("kid"), k.Receipt, handoffs.SendInput{To: []string{"ann"}, Content: envelopes.Content{Decisions: []envelopes.Point{{Text: "ask ann"}}}})
		if got := h.acceptPrompt("ann"); !strings.Contains(got.Content.Prompt, later.Text) || !strings.Contains(got.Content.Prompt, late.Text) {
			h.Errorf("a constraint is lost on the child's way:\n%s", got.Content.Prompt)
		}
	})
}

func TestASenderBindsTheNextOwnersAndIsRefusedWhole(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "kid")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "ship it", Start: true})
		rule := event.Constraint{ID: "no-friday", Kind: event.ConstraintProhibition, Text: "Never on a Friday.", Hard: true}
		binding := handoffs.SendInput{Task: r.Task, Epoch: r.Epoch, To: []string{"nobody"}, Constraints: []event.Constraint{rule}}
		if _, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tasks.Send(ctx(h), c, binding) }); err == nil {
			h.Error("it was sent to somebody who is not there")
		}
		if got := h.task(r.Task).Constraints; len(got) != 0 {
			h.Errorf("what was refused left constraints behind: %+v", got)
		}
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Constraints: []event.Constraint{rule}})
		b := h.acceptPrompt("bob")
		if !strings.Contains(b.Content.Prompt, rule.Text) {
			h.Errorf("bob never heard of it:\n%s", b.Content.Prompt)
		}
		loose := rule
		loose.Hard = false
		binding = handoffs.SendInput{Task: r.Task, Epoch: b.Epoch, To: []string{"kid"}, Constraints: []event.Constraint{loose}}
		if _, err := call(h.agent("bob"), func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tasks.Send(ctx(h), c, binding) }); refusal.CodeOf(err) != refusal.Conflict {
			h.Errorf("bob loosens it: %v", err)
		}
		own := event.Constraint{ID: "short", Kind: event.ConstraintFormat, Text: "One page."}
		p := h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation, Constraints: []event.Constraint{rule, own}})
		if k := h.acceptPrompt("kid"); !strings.Contains(k.Content.Prompt, rule.Text) || !strings.Contains(k.Content.Prompt, own.Text) {
			h.Errorf("the child is not bound:\n%s", k.Content.Prompt)
		}
		if got := h.task(p.Children[0]).Constraints; len(got) != 2 || got[0].Origin != "agent/ann" || got[1].Origin != "agent/bob" {
			h.Errorf("the child is bound by %+v", got)
		}
	})
}

func TestAChildsConstraintDoesNotShadowOneOfItsParents(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "kid")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "ship it", Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation})
		k := h.accept("kid", h.wait("kid"))
		rule := event.Constraint{ID: "names", Kind: event.ConstraintSecurity, Text: "No customer names.", Hard: true}
		soft := rule
		soft.Text = "Names are fine."
		same := rule
		same.ID, same.Hard = "places", false
		for _, first := range []event.Constraint{soft, same} {
			ok(h, h.agent("kid"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Constrain(ctx(h), c, tasks.ConstrainInput{Task: k.Task, Epoch: k.Epoch, Constraint: first})
			})
		}
		h.constrain(h.operator(), r.Task, rule)
		rule.ID = "places"
		h.constrain(h.operator(), r.Task, rule)
		bound := h.until(k.Task, "bound by both", func(t taskstore.Task) bool { return len(t.Constraints) == 4 })
		for i, id := range []string{"parent.names", "parent.places"} {
			if got := bound.Constraints[2+i]; got.ID != id || got.Text != rule.Text || !got.Hard || got.Origin != "operator/ann" {
				h.Errorf("what binds the parent, on the child: %+v", got)
			}
			if _, err := call(h.agent("kid"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Lift(ctx(h), c, tasks.LiftInput{Task: k.Task, ID: id, Why: "in the way"})
			}); refusal.CodeOf(err) != refusal.NotPermitted {
				h.Errorf("the child's holder lifts %s: %v", id, err)
			}
		}
	})
}

func TestAResultThatIsNotAsExpectedIsFixed(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		want := event.Expected{Schema: json.RawMessage(`{"type":"object","required":["amount"]}`), Criteria: []string{"polite"}}
		h.create(h.agent("ann"), tasks.CreateInput{Intent: "refund", Expected: want, Send: &handoffs.SendInput{To: []string{"bob"}}})
		b := h.accept("bob", h.wait("bob"))
		finish := func(data string) (taskstore.Receipt, error) {
			return call(h.agent("bob"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Complete(ctx(h), c, tasks.CompleteInput{Task: b.Task, Epoch: b.Epoch, Result: event.Result{Data: json.RawMessage(data), Review: []string{"looks fine to me"}}})
			})
		}
		if _, err := finish(`{"sum":3}`); refusal.CodeOf(err) != refusal.Invalid || !strings.Contains(err.Error(), "amount") {
			h.Errorf("a result without an amount: %v", err)
		}
		if _, err := finish(`{"amount":3}`); err != nil {
			h.Fatal(err)
		}
		if res := h.task(b.Task).Result; res == nil || len(res.Review) != 1 || res.Review[0] != "polite" {
			h.Errorf("a reviewer gets %+v", res)
		}
		if _, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Create(ctx(h), c, &tasks.CreateInput{Intent: "x", Expected: event.Expected{Schema: json.RawMessage(`{"$ref":"#"}`)}})
		}); refusal.CodeOf(err) != refusal.Invalid {
			h.Errorf("a schema that refers to itself for ever: %v", err)
		}
	})
}

func TestDocumentsOfOtherSystemsBecomeTasks(t *testing.T) {
	for _, name := range []string{"handoff-document", "handoff-context", "memory-envelope", "envelope"} {
		doc, err := os.ReadFile("../content/foreign/testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		story(t, func(h *harness) {
			h.join("bob")
			got := ok(h, h.agent("bob"), func(c caller.Caller) (tasks.Imported, error) {
				return h.app.Tasks.Import(ctx(h), c, &tasks.ImportInput{Document: doc, Start: true})
			})
			if string(got.Format) != name || len(got.Notes) == 0 || got.Owner != "bob" {
				h.Errorf("imported as %+v", got)
			}
			task := h.task(got.Task)
			if task.Requester != "agent/bob" {
				h.Errorf("what a document says of its sender counts: %s", task.Requester)
			}
			sheet := h.content(h.agent("bob"), envelopes.ContentInput{ID: got.Task, Render: true})
			if !strings.Contains(sheet.Prompt, task.Intent) {
				h.Errorf("%s: the intent is lost", name)
			}
		})
	}
}
