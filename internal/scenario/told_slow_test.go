//go:build slow || outside

package scenario

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

func TestTheHistoryTellsOfHandoffsDelegationsResultsAndRecoveries(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "kid", "backup", "dan")
		h.register("bob", agents.AgentSpec{Fallbacks: []string{"backup"}})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true, Timeouts: event.Timeouts{Lease: event.Duration(time.Hour)}})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Reason: event.ReasonSpecialization, Detail: "you know roofs"})
		b := h.acceptPrompt("bob")
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "Measure the beams."}})
		k := h.acceptPrompt("kid")
		h.complete("kid", k.Receipt, "Nine by twelve.")
		h.inState(r.Task, event.Executing)
		later := h.acceptPrompt("backup") // bob shows no life
		want := []string{
			"ann handed over to bob: specialization, you know roofs\n", "bob delegated to kid: Measure the beams.\n",
			"kid completed the delegated part: Nine by twelve.\n",
		}
		h.says(later.Content.Prompt, append([]string{"# Already done\n"}, want...)...)
		h.send(h.agent("backup"), later.Receipt, handoffs.SendInput{To: []string{"dan"}})
		h.reject("dan", h.wait("dan"), event.Overloaded)
		h.send(h.agent("backup"), later.Receipt, handoffs.SendInput{To: []string{"dan"}})
		d := h.acceptPrompt("dan")
		want = append(want, "backup took over from bob: bob showed no life until its lease ended\n")
		h.says(d.Content.Prompt, want...)
		if strings.Contains(d.Content.Prompt, "## Your part") {
			h.Errorf("what was asked of kid is asked of dan:\n%s", d.Content.Prompt)
		}
		for _, line := range want {
			if n := strings.Count(d.Content.Prompt, line); n != 1 {
				h.Errorf("%q is there %d times:\n%s", line, n, d.Content.Prompt)
			}
		}
	})
}

// offeredBefore records an offer as a server did that recorded no permissions: neither with the handoff nor in its envelope.
func (h *harness) offeredBefore(r taskstore.Receipt, from, to string) {
	h.Helper()
	sealed, err := envelope.Seal(envelope.Envelope{
		Version: "1.1", Handoff: envelope.Header{TaskID: r.Task, HandoffID: event.HandoffID(r.Task, 1), From: from, To: []string{to}, Kind: event.Warm},
		Task: envelope.Task{Intent: h.task(r.Task).Intent},
	}, []byte("0123456789abcdef"))
	if err != nil {
		h.Fatal(err)
	}
	at := h.now().UTC().Truncate(time.Microsecond)
	coded, err := ledger.NewCodec(event.Events...).EncodeAll([]event.Event{
		event.Sealed{Digest: sealed.Digest, Bytes: sealed.Bytes},
		event.HandoffRequested{
			Handoff: 1, Kind: event.Warm, From: from, By: "agent/" + from, Reason: event.ReasonUserRequest, Confirm: event.ConfirmAuto, Envelope: sealed.Digest,
			Candidates: event.Named(to), Timeouts: h.task(r.Task).Times, Before: event.Standing{State: event.Executing, Owner: from, Epoch: r.Epoch}, At: at,
		},
		event.OfferMade{Handoff: 1, Offer: 1, To: []string{to}, Next: 0, Tier: event.TierTarget, Ends: at.Add(time.Hour)},
	})
	if err != nil {
		h.Fatal(err)
	}
	s := ledger.StreamOf(identity.DefaultWorkspace, "task", r.Task)
	for try := range 5 { // reads are recorded on the way
		before, err := h.ledger.Stream(ctx(h), s, 0, 100)
		if err != nil {
			h.Fatal(err)
		}
		last := before[len(before)-1]
		_, err = h.ledger.Append(ctx(h), ledger.Entry{
			Stream: s, Version: last.Version + 1, Time: at, Actor: ledger.Actor{Principal: "agent/" + from}, Events: coded,
		}, last.Position)
		if err == nil {
			return
		}
		if try == 4 {
			h.Fatal(err)
		}
	}
}

func TestTheReceiverOfAnOldOfferReadsNoMoreThanTheTaskAllows(t *testing.T) {
	for name, allowed := range map[string][]string{"none": {}, "some": {"ladder"}, "not restricted": nil} {
		bubble(t, sound(), func(h *harness) {
			h.join("ann", "bob", "cyd")
			r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true, Permissions: allowed})
			h.offeredBefore(r, "ann", "bob")
			b := h.acceptPrompt("bob")
			if got := inPrompt(b.Content.Prompt); !within(got.permissions, allowed) || (got.permissions == nil) != (allowed == nil) {
				h.Errorf("%s: the prompt allows %#v:\n%s", name, got.permissions, b.Content.Prompt)
			}
			if got := inDocument(packed(h, *b.Content)); !within(got.permissions, allowed) {
				h.Errorf("%s: the envelope allows %#v", name, got.permissions)
			}
			h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}})
			if got := inPrompt(h.acceptPrompt("cyd").Content.Prompt); !within(got.permissions, allowed) {
				h.Errorf("%s: the next prompt allows %#v", name, got.permissions)
			}
		})
	}
}

func TestADelegatedChildIsToldWhoseResultItIsAndWhereItGoes(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd", "eve")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "Measure the beams."}})
		b := h.acceptPrompt("bob")
		goes := "- Part of task `" + r.Task + "` (`fix the roof`): your result goes to its owner, `ann`\n"
		h.says(b.Content.Prompt, "# You take over task `"+b.Task+"`", "from `ann`\n", goes)
		if n := strings.Count(b.Content.Prompt, "Measure the beams."); n != 1 {
			h.Errorf("the ask is there %d times:\n%s", n, b.Content.Prompt)
		}
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}})
		c := h.acceptPrompt("cyd")
		h.says(c.Content.Prompt, "from `bob`\n", goes, "ann handed over to bob")
		if strings.Contains(c.Content.Prompt, "system/") {
			h.Errorf("the server gave it to nobody:\n%s", c.Content.Prompt)
		}
		if n := strings.Count(c.Content.Prompt, "Measure the beams."); n != 1 {
			h.Errorf("the ask is there %d times:\n%s", n, c.Content.Prompt)
		}
		h.share(h.agent("cyd"), c.Receipt, tasks.ShareInput{To: "eve"})
		shared := h.content(h.agent("eve"), envelopes.ContentInput{ID: h.wait("eve").ID, Render: true})
		if strings.Contains(shared.Prompt, "your result goes") {
			h.Errorf("a share has no result:\n%s", shared.Prompt)
		}
	})
}

func TestWhatHappensAgainIsToldAgain(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "kid", "dan")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true})
		lift := func() {
			if _, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Constrain(ctx(h), c, tasks.ConstrainInput{Task: r.Task, Epoch: h.task(r.Task).Epoch, Constraint: event.Constraint{ID: "slate", Kind: event.ConstraintPreference, Text: "Use slate."}})
			}); err != nil {
				h.Fatal(err)
			}
			if _, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Lift(ctx(h), c, tasks.LiftInput{Task: r.Task, ID: "slate", Why: "none left"})
			}); err != nil {
				h.Fatal(err)
			}
		}
		for range 2 { // each time an envelope is sealed that tells of the time before
			lift()
			h.send(h.agent("ann"), taskstore.Receipt{Task: r.Task, Epoch: h.task(r.Task).Epoch}, handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "Measure a beam."}})
			h.complete("kid", h.acceptPrompt("kid").Receipt, "Done.")
			h.inState(r.Task, event.Executing)
			time.Sleep(time.Second) // what happens again, happens later: the same at the same time is told once
		}
		for range 2 {
			h.send(h.agent("ann"), taskstore.Receipt{Task: r.Task, Epoch: h.task(r.Task).Epoch}, lost(handoffs.SendInput{To: []string{"bob"}}))
			h.inState(r.Task, event.Parked)
			h.replay(tasks.ReplayInput{Task: r.Task, Home: true, Note: "again"})
		}
		h.send(h.agent("ann"), taskstore.Receipt{Task: r.Task, Epoch: h.task(r.Task).Epoch}, handoffs.SendInput{To: []string{"dan"}})
		prompt := h.acceptPrompt("dan").Content.Prompt
		for _, line := range []string{
			"ann delegated to kid: Measure a beam.\n", "kid completed the delegated part: Done.\n", "ann lifted constraint slate (“Use slate.”): none left\n",
			"replayed it from the dead letters: again\n",
		} {
			if n := strings.Count(prompt, line); n != 2 {
				h.Errorf("%q is there %d times, not twice:\n%s", line, n, prompt)
			}
		}
	})
}

// What is said between the request of a handoff and its acceptance is not in what was sealed, and its receiver reads it nevertheless.
func TestAReceiverReadsWhatItsApproverSaidAndWhyARuleWasLiftedMeanwhile(t *testing.T) {
	const approved = "\ndan approved the handoff: Mind the dog.\n"
	lifted := func(id string) string {
		return "\nann lifted constraint " + id + " (“Use " + id + ".”): it is in the way\n"
	}
	story(t, func(h *harness) {
		h.join("ann", "bob", "dan")
		for kind, want := range map[event.Kind]map[string]int{
			event.Supervised: {approved: 1, lifted("slate"): 1, lifted("tiles"): 1},
			event.Cold:       {approved: 0, lifted("slate"): 1, lifted("tiles"): 0}, // the tiles are of the time before it
		} {
			reads := func(agent string) tasks.Accepted {
				a := h.acceptPrompt(agent)
				for line, n := range want {
					if got := strings.Count(a.Content.Prompt, line); got != n {
						h.Errorf("%s: %s reads %q %d times:\n%s", kind, agent, line, got, a.Content.Prompt)
					}
				}
				return a
			}
			r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true, Constraints: []event.Constraint{rule("slate", "Use slate."), rule("tiles", "Use tiles.")}})
			lift := func(id string) {
				if err := h.lifting(h.agent("ann"), r.Task, id); err != nil {
					h.Fatal(err)
				}
			}
			lift("tiles")
			in := handoffs.SendInput{To: []string{"bob"}, Kind: kind, Content: envelopes.Content{Ask: "Do it."}}
			if kind == event.Supervised {
				in.Approver = "dan"
			}
			sent := h.send(h.agent("ann"), r, in)
			if kind == event.Supervised {
				ok(h, h.agent("dan"), func(c caller.Caller) (taskstore.Receipt, error) {
					return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: sent.Handoff, Digest: sent.Envelope, Detail: "Mind the dog."})
				})
			}
			lift("slate")
			b := reads("bob")
			if doc := packed(h, *b.Content); doc.Parent != sent.Envelope || len(doc.Constraints) > 0 {
				h.Errorf("%s: bob got an envelope after %s, with %+v", kind, doc.Parent, doc.Constraints)
			}
			h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"dan"}, Content: envelopes.Content{Decisions: []envelopes.Point{{Text: "Go on."}}}})
			reads("dan")
		}
	})
}

func TestAfterAReplayTheOwnersAreStillCountedAndNamed(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd", "dan", "kid")
		h.say(h.agent("ann"), "roofs", conversations.AppendTurnInput{Role: conversation.User, Text: "It leaks."})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true, Conversation: "roofs"})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		b := h.acceptPrompt("bob")
		h.send(h.agent("bob"), b.Receipt, lost(handoffs.SendInput{To: []string{"cyd"}}))
		h.inState(r.Task, event.Parked)
		h.replay(tasks.ReplayInput{Task: r.Task, To: []string{"dan"}, Note: "dan has time"})
		d := h.acceptPrompt("dan")
		doc := packed(h, *d.Content)
		if doc.Hops != 1 { // from ann to bob
			h.Errorf("after a replay the envelope counts %d changes of owner", doc.Hops)
		}
		h.says(doc.ConversationSummary, "ann (1), bob (0)", "Handed over: ann -> bob")
		if strings.Contains(doc.ConversationSummary, "ann -> ann") {
			h.Errorf("the continuity text says\n%s", doc.ConversationSummary)
		}
		h.send(h.agent("dan"), d.Receipt, handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "Measure."}})
		if doc := packed(h, *h.acceptPrompt("kid").Content); doc.Hops != 2 {
			h.Errorf("the child's envelope counts %d changes of owner", doc.Hops)
		}
		k := h.task(r.Task)
		child := h.inState(k.Children[0].Task, event.Executing)
		h.complete("kid", taskstore.Receipt{Task: child.ID, Epoch: child.Epoch}, "Nine.")
		now := h.inState(r.Task, event.Executing)
		h.send(h.agent("dan"), taskstore.Receipt{Task: r.Task, Epoch: now.Epoch}, handoffs.SendInput{To: []string{"cyd"}, Content: envelopes.Content{Decisions: []envelopes.Point{{Text: "Go on."}}}})
		c := h.acceptPrompt("cyd")
		doc = packed(h, *c.Content)
		h.says(doc.ConversationSummary, "Handed over: ann -> bob", "Handed over: bob -> dan")
		h.says(doc.ConversationSummary, "Delegated: dan -> kid")
		if n := strings.Count(doc.ConversationSummary, "bob -> dan"); n != 1 {
			h.Errorf("a change of hands is there %d times:\n%s", n, doc.ConversationSummary)
		}
		h.says(c.Content.Prompt, "replayed it from the dead letters: dan has time", "operator/ann gave it from bob to dan\n")
		if n := strings.Count(readPrompt(h, c.Content.Prompt).sections["Already done"], "dan has time"); n != 1 {
			h.Errorf("the note of the replay is there %d times:\n%s", n, c.Content.Prompt)
		}
		if doc.Hops != 2 {
			h.Errorf("the envelope counts %d changes of owner", doc.Hops)
		}
	})
}

// What a person says beside an answer reaches the owner who asked and the owners after it, however long the answer is.
func TestTheNextOwnersReadWhatWasSaidBesideAnAnswer(t *testing.T) {
	long := strings.Repeat("0123456789abcde ", envelope.MaxItemText/16)
	story(t, func(h *harness) {
		h.join("amy", "bob")
		for name, in := range map[string]tickets.AnswerInput{
			"short": {Answer: "no", Detail: "Felt holds damp; take linen."},
			"long":  {Answer: long, Detail: "Felt holds damp; take linen."},
		} {
			r := h.create(h.agent("amy"), tasks.CreateInput{Intent: "move the bells", Start: true})
			asked := ok(h, h.agent("amy"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tickets.Ask(ctx(h), c, tickets.AskInput{Task: r.Task, Epoch: r.Epoch, Question: "May felt touch the bells?"})
			})
			in.ID = asked.Ticket
			r = ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tickets.Answer(ctx(h), c, in) })
			now := ok(h, h.agent("amy"), func(c caller.Caller) (taskstore.Task, error) { return h.app.Tasks.Show(ctx(h), c, r.Task) })
			if len(now.Answers) != 1 || now.Answers[0].Detail != in.Detail {
				h.Errorf("%s: the owner that asked reads %+v", name, now.Answers)
			}
			r.Epoch = now.Epoch
			h.send(h.agent("amy"), r, handoffs.SendInput{To: []string{"bob"}})
			prompt := h.acceptPrompt("bob").Content.Prompt
			for _, want := range []string{"May felt touch the bells?", strings.TrimSpace(in.Answer), in.Detail} {
				if !strings.Contains(prompt, want) {
					h.Errorf("%s: bob does not read %.40q", name, want)
				}
			}
		}
	})
}

// Where the budget is short, what a person answered comes before facts that nobody has pinned, however many there are.
func TestAnAnswerComesBeforeFillers(t *testing.T) {
	story(t, func(h *harness) {
		h.join("amy", "bob")
		r := h.create(h.agent("amy"), tasks.CreateInput{Intent: "move the bells", Start: true})
		question := ok(h, h.agent("amy"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tickets.Ask(ctx(h), c, tickets.AskInput{Task: r.Task, Epoch: r.Epoch, Question: "May felt touch the bells?"})
		})
		ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tickets.Answer(ctx(h), c, tickets.AnswerInput{ID: question.Ticket, Answer: "No, felt holds damp."})
		})
		r.Epoch = ok(h, h.agent("amy"), func(c caller.Caller) (taskstore.Task, error) { return h.app.Tasks.Show(ctx(h), c, r.Task) }).Epoch
		var content envelopes.Content
		for n := range 200 {
			content.Facts = append(content.Facts, envelopes.Point{Text: fmt.Sprintf("bell %d weighs %d pounds", n, 100+n)})
		}
		h.send(h.agent("amy"), r, handoffs.SendInput{To: []string{"bob"}, Content: content, Pack: event.Pack{Tokens: 1200}})
		prompt := h.acceptPrompt("bob").Content.Prompt
		if !strings.Contains(prompt, "No, felt holds damp.") || strings.Count(prompt, "pounds") > 150 {
			h.Errorf("bob reads\n%s", prompt)
		}
	})
}
