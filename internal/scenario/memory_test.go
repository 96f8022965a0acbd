package scenario

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/usecase/history"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func (h *harness) remember(by caller.Caller, in memories.RememberInput) memories.Item {
	h.Helper()
	return ok(h, by, func(c caller.Caller) (memories.Item, error) { return h.app.Memories.Remember(ctx(h), c, in) })
}

func (h *harness) recall(by caller.Caller, in memories.MemoryInput) (memories.Item, error) {
	return call(by, func(c caller.Caller) (memories.Item, error) { return h.app.Memories.Show(ctx(h), c, in) })
}

// knows checks what an agent reads by an id.
func (h *harness) knows(by caller.Caller, in memories.MemoryInput, text string, status memory.Status) {
	h.Helper()
	if got, err := h.recall(by, in); err != nil || got.Text != text || got.Status != status {
		h.Errorf("%s reads %+v, %v; want %q, %s", by.Principal, got, err, text, status)
	}
}

// ignores checks that there is no such item for an agent.
func (h *harness) ignores(by caller.Caller, in memories.MemoryInput) {
	h.Helper()
	if got, err := h.recall(by, in); refusal.CodeOf(err) != refusal.NotFound {
		h.Errorf("%s reads %+v, %v", by.Principal, got, err)
	}
}

// found are the ids that a search finds, in order.
func (h *harness) found(by caller.Caller, in memories.SearchInput) []string {
	h.Helper()
	h.settle()
	page := ok(h, by, func(c caller.Caller) (memories.FoundItems, error) { return h.app.Memories.Search(ctx(h), c, in) })
	ids := []string{}
	for _, x := range page.Items {
		ids = append(ids, x.ID)
	}
	return ids
}

func (h *harness) wantFound(by caller.Caller, in memories.SearchInput, want ...string) {
	h.Helper()
	if got := h.found(by, in); !slices.Equal(got, want) {
		h.Errorf("%s finds %q by %+v, want %q", by.Principal, got, in, want)
	}
}

// brought returns the memory items that came with an acceptance.
func brought(h *harness, a tasks.Accepted) (ids []string, doc envelope.Envelope) {
	h.Helper()
	doc = sheetOf(h, a.Content)
	for _, m := range doc.Memory {
		ids = append(ids, m.ID)
	}
	return ids, doc
}

func TestAScopeHoldsUntilItsTaskEnds(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder", "stranger")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix the login", Start: true})
		private := h.remember(h.agent("lead"), memories.RememberInput{Text: "private: " + secret})
		ours := h.remember(h.agent("lead"), memories.RememberInput{Text: "the login is slow", Scope: memory.Task, Task: r.Task})
		all := h.remember(h.agent("lead"), memories.RememberInput{Text: "we deploy the login on Mondays", Scope: memory.Workspace})
		h.wantFound(h.agent("lead"), memories.SearchInput{}, all.ID, ours.ID, private.ID)
		h.wantFound(h.agent("coder"), memories.SearchInput{}, all.ID)

		h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"coder"}})
		item := h.wait("coder")
		h.ignores(h.agent("coder"), memories.MemoryInput{ID: ours.ID, Task: r.Task}) // only offered
		a := h.accept("coder", item)
		h.knows(h.agent("coder"), memories.MemoryInput{ID: ours.ID}, "the login is slow", memory.Current)
		h.wantFound(h.agent("coder"), memories.SearchInput{}, all.ID, ours.ID)
		h.wantFound(h.agent("coder"), memories.SearchInput{Task: r.Task}, ours.ID)
		if got := h.found(h.agent("coder"), memories.SearchInput{Text: "login"}); len(got) != 2 {
			h.Errorf("coder finds %q", got)
		}
		found := h.remember(h.agent("coder"), memories.RememberInput{Text: "it was the cookie", Scope: memory.Task, Task: r.Task})
		h.wantFound(h.agent("lead"), memories.SearchInput{Agent: "coder"}, found.ID)
		for _, in := range []memories.SearchInput{{Text: secret}, {Scope: memory.Private}, {Agent: "lead", Scope: memory.Task, Text: secret}} {
			h.wantFound(h.agent("coder"), in)
		}
		for _, by := range []caller.Caller{h.agent("coder"), h.agent("stranger")} {
			h.ignores(by, memories.MemoryInput{ID: private.ID})
		}
		h.wantFound(h.agent("stranger"), memories.SearchInput{}, all.ID)

		h.complete("coder", a.Receipt, "done")
		h.ignores(h.agent("coder"), memories.MemoryInput{ID: ours.ID})
		h.wantFound(h.agent("coder"), memories.SearchInput{}, found.ID, all.ID)
		h.wantFound(h.agent("lead"), memories.SearchInput{}, all.ID, ours.ID, private.ID)
		h.wantFound(h.operator(), memories.SearchInput{}, found.ID, all.ID, ours.ID, private.ID)
	})
}

func TestWhatAnEnvelopeGrantsEndsWhenTheTaskMovesOn(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder", "reviewer")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix", Start: true})
		note := h.remember(h.agent("lead"), memories.RememberInput{Title: "how", Text: "mind the cookie"})
		other := h.remember(h.agent("lead"), memories.RememberInput{Text: "not for coder"})
		h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"coder"}, Content: envelopes.Content{Memory: []envelopes.MemoryAsk{{ID: note.ID}, {ID: "mem_none"}}}})
		h.ignores(h.agent("coder"), memories.MemoryInput{ID: note.ID})
		a := h.accept("coder", h.wait("coder"))
		ids, doc := brought(h, a)
		if !slices.Equal(ids, []string{note.ID}) || doc.Memory[0].Text != "mind the cookie" || doc.Memory[0].Digest != note.Digest || doc.Memory[0].Author != "lead" {
			h.Fatalf("coder got %+v", doc.Memory)
		}
		if len(doc.Gaps) != 1 || doc.Gaps[0].ID != "mem_none" || doc.Gaps[0].Reason != envelope.GapNotFound || doc.Packing.Completeness != 0.5 {
			h.Errorf("gaps %+v, completeness %v", doc.Gaps, doc.Packing.Completeness)
		}
		ref := memories.MemoryInput{ID: note.ID, Version: doc.Memory[0].Version, Digest: doc.Memory[0].Digest}
		h.knows(h.agent("coder"), ref, "mind the cookie", memory.Current)
		h.knows(h.agent("coder"), memories.MemoryInput{ID: note.ID, Task: r.Task}, "mind the cookie", memory.Current)
		h.ignores(h.agent("coder"), memories.MemoryInput{ID: other.ID, Task: r.Task})

		ok(h, h.agent("lead"), func(c caller.Caller) (memories.Item, error) {
			return h.app.Memories.Revise(ctx(h), c, memories.ReviseInput{ID: note.ID, Text: "now for lead alone"})
		})
		h.knows(h.agent("coder"), ref, "mind the cookie", memory.Changed)
		h.knows(h.agent("lead"), ref, "now for lead alone", memory.Changed)

		h.send(h.agent("coder"), a.Receipt, handoffs.SendInput{To: []string{"reviewer"}, Content: envelopes.Content{Decisions: []envelopes.Point{{Text: "fixed"}}}})
		b := h.accept("reviewer", h.wait("reviewer"))
		h.ignores(h.agent("coder"), ref)
		h.ignores(h.agent("coder"), memories.MemoryInput{ID: note.ID, Task: r.Task})
		if ids, doc := brought(h, b); !slices.Equal(ids, []string{note.ID}) || doc.Memory[0].Text != "mind the cookie" {
			h.Errorf("reviewer got %+v", doc.Memory)
		}
		h.knows(h.agent("reviewer"), ref, "mind the cookie", memory.Changed)
		h.complete("reviewer", b.Receipt, "done")
		h.ignores(h.agent("reviewer"), ref)
		h.knows(h.agent("lead"), memories.MemoryInput{ID: note.ID}, "now for lead alone", memory.Current)
	})
}

func TestPinnedAndRecentItemsGoAlongByThemselves(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix the slow login", Start: true})
		rule := h.remember(h.operator(), memories.RememberInput{Text: "never push to main", Scope: memory.Workspace, Pinned: true})
		near := h.remember(h.agent("lead"), memories.RememberInput{Text: "a login takes nine seconds", Scope: memory.Task, Task: r.Task})
		asked := h.remember(h.agent("lead"), memories.RememberInput{Text: "an invoice is due in March", Scope: memory.Task, Task: r.Task})
		h.remember(h.agent("lead"), memories.RememberInput{Text: "the login password is " + secret, Pinned: true})
		h.remember(h.agent("coder"), memories.RememberInput{Text: "lunch is at noon", Scope: memory.Workspace})
		h.settle()
		h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"coder"}, Content: envelopes.Content{Recent: 3, Ask: "leave the invoices alone"}})
		ids, doc := brought(h, h.accept("coder", h.wait("coder")))
		slices.Sort(ids[min(1, len(ids)):]) // of what is found by the words of the intent and of the ask, either may be the first
		want := []string{rule.ID, near.ID, asked.ID}
		slices.Sort(want[1:])
		if !slices.Equal(ids, want) || strings.Contains(fmt.Sprint(doc), secret) {
			h.Errorf("coder got %+v", doc.Memory)
		}
	})
}

func TestAForgottenItemIsGivenOutNowhere(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder", "reviewer")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix", Start: true})
		in := memories.RememberInput{Title: secret, Text: "it is " + secret, Tags: []string{secret}, Scope: memory.Workspace, Pinned: true}
		x := h.remember(h.agent("lead"), in)
		ok(h, h.agent("lead"), func(c caller.Caller) (memories.Item, error) {
			return h.app.Memories.Revise(ctx(h), c, memories.ReviseInput{ID: x.ID, Text: "it was " + secret})
		})
		h.settle()
		h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"coder"}, Content: envelopes.Content{Memory: []envelopes.MemoryAsk{{ID: x.ID}}}})
		ok(h, h.agent("lead"), func(c caller.Caller) (memories.Item, error) { return h.app.Memories.Forget(ctx(h), c, x.ID) })
		h.settle()

		// Not with an offer that was made before, nor with the next, nor on request.
		a := h.accept("coder", h.wait("coder"))
		ids, doc := brought(h, a)
		if len(ids) > 0 || strings.Contains(string(a.Content.Envelope), secret) || len(doc.Gaps) != 1 || doc.Gaps[0].Reason != envelope.GapForgotten {
			h.Errorf("coder got %s", a.Content.Envelope)
		}
		h.send(h.agent("coder"), a.Receipt, handoffs.SendInput{To: []string{"reviewer"}, Content: envelopes.Content{
			Recent: 9, Memory: []envelopes.MemoryAsk{{ID: x.ID, Version: 1}}, Decisions: []envelopes.Point{{Text: "go on"}},
		}})
		if b := h.accept("reviewer", h.wait("reviewer")); strings.Contains(string(b.Content.Envelope), secret) {
			h.Errorf("reviewer got %s", b.Content.Envelope)
		}
		for _, by := range []caller.Caller{h.agent("lead"), h.agent("coder"), h.operator(), h.as(identity.Auditor, "kim")} {
			for _, in := range []memories.MemoryInput{{ID: x.ID}, {ID: x.ID, Version: 1}, {ID: x.ID, Version: 1, Digest: x.Digest, Task: r.Task}} {
				h.knows(by, in, "", memory.Forgotten)
			}
			for _, in := range []memories.SearchInput{{}, {Text: secret}, {Tag: secret}, {Pinned: true}, {Agent: "lead"}} {
				h.wantFound(by, in)
			}
		}
		var out bytes.Buffer
		ok(h, h.as(identity.Auditor, "kim"), func(c caller.Caller) (bool, error) {
			out.Reset()
			return true, h.app.History.Export(ctx(h), c, history.ExportInput{Format: view.FormatLines}, &out)
		})
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, secret) && strings.Contains(line, `"kind":"memory"`) {
				h.Errorf("the export has %s", line)
			}
		}
		if !strings.Contains(out.String(), "memory-forgotten") || !strings.Contains(out.String(), x.Digest) {
			h.Error("its existence is not recorded")
		}
	})
}

// The gap is named in the envelope of every later receiver, and in that of a child, until a sender asks for the item again.
func TestAReferenceThatCannotBeResolvedIsNamedInEveryLaterEnvelope(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder", "tester", "reviewer", "closer", "helper")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix", Start: true})
		gone := h.remember(h.agent("lead"), memories.RememberInput{Text: "the key", Scope: memory.Workspace})
		private := h.remember(h.agent("reviewer"), memories.RememberInput{Text: "reviewer's own"})
		kept := h.remember(h.agent("lead"), memories.RememberInput{Text: "mind the cookie", Scope: memory.Workspace})
		h.settle()
		h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"coder"}, Content: envelopes.Content{
			Memory:    []envelopes.MemoryAsk{{ID: gone.ID}, {ID: private.ID}, {ID: kept.ID}},
			Artifacts: []envelopes.Artifact{{Digest: envelope.DigestOf([]byte("nowhere"))}},
		}})
		ok(h, h.agent("lead"), func(c caller.Caller) (memories.Item, error) { return h.app.Memories.Forget(ctx(h), c, gone.ID) })
		want := []envelope.Gap{
			{Kind: envelope.PartArtifact, ID: envelope.DigestOf([]byte("nowhere")), Reason: envelope.GapNotFound},
			{Kind: envelope.PartMemory, ID: private.ID, Reason: envelope.GapNotFound},
			{Kind: envelope.PartMemory, ID: gone.ID, Reason: envelope.GapForgotten},
		}
		a := h.accept("coder", h.wait("coder"))
		for _, next := range []string{"tester", "reviewer", "closer"} {
			ids, doc := brought(h, a)
			if !slices.Equal(ids, []string{kept.ID}) || fmt.Sprint(doc.Gaps) != fmt.Sprint(want) || doc.Packing.Completeness != 0.25 {
				h.Errorf("before %s: %q, gaps %+v, completeness %v", next, ids, doc.Gaps, doc.Packing.Completeness)
			}
			h.send(h.agent(a.Owner), a.Receipt, handoffs.SendInput{To: []string{next}})
			a = h.accept(next, h.wait(next))
		}
		h.send(h.agent("closer"), a.Receipt, handoffs.SendInput{Kind: event.Delegation, To: []string{"helper"}, Content: envelopes.Content{Ask: "look"}})
		if _, doc := brought(h, h.accept("helper", h.wait("helper"))); fmt.Sprint(doc.Gaps) != fmt.Sprint(want) {
			h.Errorf("the child has the gaps %+v", doc.Gaps)
		}
	})
}

func TestWorkspacesDoNotKnowOfEachOther(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead")
		x := h.remember(h.agent("lead"), memories.RememberInput{Text: secret, Scope: memory.Workspace, Tags: []string{"key"}})
		away := h.agent("lead")
		away.Workspace = "elsewhere"
		boss := h.operator()
		boss.Workspace = "elsewhere"
		for _, by := range []caller.Caller{away, boss} {
			h.ignores(by, memories.MemoryInput{ID: x.ID, Version: 1, Digest: x.Digest})
			for _, in := range []memories.SearchInput{{}, {Text: secret}, {Tag: "key"}, {Agent: "lead"}} {
				h.wantFound(by, in)
			}
			for name, change := range map[string]func(context.Context, caller.Caller, string) (memories.Item, error){
				"pin": h.app.Memories.Pin, "unpin": h.app.Memories.Unpin, "forget": h.app.Memories.Forget,
			} {
				_, err := call(by, func(c caller.Caller) (memories.Item, error) { return change(ctx(h), c, x.ID) })
				if refusal.CodeOf(err) != refusal.NotFound {
					h.Errorf("%s from another workspace: %v", name, err)
				}
			}
		}
		h.knows(h.agent("lead"), memories.MemoryInput{ID: x.ID}, secret, memory.Current)
	})
}

func TestWhatCannotBeRememberedIsRefusedAndChangesNothing(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder")
		mine := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix", Start: true})
		x := h.remember(h.agent("lead"), memories.RememberInput{Text: "one", Scope: memory.Workspace})
		before := h.found(h.operator(), memories.SearchInput{})
		for name, c := range map[string]struct {
			by   caller.Caller
			in   memories.RememberInput
			code refusal.Code
		}{
			"too long":               {h.agent("lead"), memories.RememberInput{Text: strings.Repeat("x", memory.MaxText+1)}, refusal.TooLarge},
			"too long a title":       {h.agent("lead"), memories.RememberInput{Text: "x", Title: strings.Repeat("x", memory.MaxTitle+1)}, refusal.TooLarge},
			"a title of two lines":   {h.agent("lead"), memories.RememberInput{Text: "x", Title: "a\x00b\n"}, refusal.Invalid},
			"a title turned around":  {h.agent("lead"), memories.RememberInput{Text: "x", Title: "a\u202eb"}, refusal.Invalid},
			"not UTF-8":              {h.agent("lead"), memories.RememberInput{Text: "\xff"}, refusal.Invalid},
			"nothing":                {h.agent("lead"), memories.RememberInput{Text: " \n"}, refusal.Invalid},
			"an unknown scope":       {h.agent("lead"), memories.RememberInput{Text: "x", Scope: "world"}, refusal.Invalid},
			"no task":                {h.agent("lead"), memories.RememberInput{Text: "x", Scope: memory.Task}, refusal.Invalid},
			"another's task":         {h.agent("coder"), memories.RememberInput{Text: "x", Scope: memory.Task, Task: mine.Task}, refusal.NotFound},
			"a task of nobody":       {h.agent("lead"), memories.RememberInput{Text: "x", Task: event.TaskID([16]byte{1})}, refusal.NotFound},
			"no conversation":        {h.agent("lead"), memories.RememberInput{Text: "x", Conversation: "a\nb"}, refusal.Invalid},
			"a tag that is none":     {h.agent("lead"), memories.RememberInput{Text: "x", Tags: []string{"A\x07"}}, refusal.Invalid},
			"more than vital":        {h.agent("lead"), memories.RememberInput{Text: "x", Importance: 1.5}, refusal.Invalid},
			"a source that is none":  {h.agent("lead"), memories.RememberInput{Text: "x", Source: memory.Source{Handoff: "h1"}}, refusal.Invalid},
			"an auditor":             {h.as(identity.Auditor, "kim"), memories.RememberInput{Text: "x"}, refusal.NotPermitted},
			"nobody":                 {caller.Caller{}, memories.RememberInput{Text: "x"}, refusal.Unauthenticated},
			"of all versions a role": {h.as("king", "x"), memories.RememberInput{Text: "x"}, refusal.NotPermitted},
		} {
			_, err := call(c.by, func(by caller.Caller) (memories.Item, error) { return h.app.Memories.Remember(ctx(h), by, c.in) })
			if r, is := refusal.As(err); !is || r.Code != c.code || r.Hint == "" {
				h.Errorf("%s: %v, want %s", name, err, c.code)
			}
		}
		odd := h.remember(h.agent("lead"), memories.RememberInput{Text: "a\x00b \u202e <<<END>>> \x1b[31m", Scope: memory.Task, Task: mine.Task, Pinned: true})
		h.settle()
		h.send(h.agent("lead"), mine, handoffs.SendInput{To: []string{"coder"}})
		a := h.acceptPrompt("coder")
		if strings.ContainsAny(a.Content.Prompt, "\x00\x1b\u202e") {
			h.Errorf("control characters reach a prompt: %q", a.Content.Prompt)
		}
		h.knows(h.agent("coder"), memories.MemoryInput{ID: odd.ID}, "a\x00b \u202e <<<END>>> \x1b[31m", memory.Current)
		h.wantFound(h.operator(), memories.SearchInput{}, append([]string{odd.ID}, before...)...)
		h.knows(h.agent("coder"), memories.MemoryInput{ID: x.ID}, "one", memory.Current)
	})
}

func TestMemoryIsTheSameAfterARebuildAndARestart(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix", Start: true, Conversation: "standup"})
		var items []memories.Item
		for n := range 6 {
			items = append(items, h.remember(h.agent("lead"), memories.RememberInput{
				Text: fmt.Sprintf("note %d of apples", n), Tags: []string{"fruit"}, Pinned: n%2 == 0, Importance: float64(n) / 10,
				Scope: []memory.Scope{memory.Private, memory.Task, memory.Workspace}[n%3], Task: r.Task,
			}))
		}
		do := func(what func(context.Context, caller.Caller, string) (memories.Item, error), id string) {
			ok(h, h.agent("lead"), func(c caller.Caller) (memories.Item, error) { return what(ctx(h), c, id) })
		}
		do(h.app.Memories.Forget, items[5].ID)
		do(h.app.Memories.Unpin, items[2].ID)
		h.say(h.agent("lead"), "standup", conversations.AppendTurnInput{Text: "hello", Task: r.Task})
		h.say(h.agent("lead"), "standup", conversations.AppendTurnInput{Text: "and on"})
		look := func() string {
			h.settle()
			out := ""
			for _, by := range []caller.Caller{h.agent("lead"), h.agent("coder"), h.operator()} {
				for _, in := range []memories.SearchInput{{}, {Text: "apples"}, {Tag: "fruit"}, {Pinned: true}, {Task: r.Task}} {
					out += fmt.Sprintln(by.Principal, h.found(by, in))
				}
				list := ok(h, by, func(c caller.Caller) (conversations.ConversationList, error) {
					return h.app.Conversations.List(ctx(h), c, conversations.ConversationsInput{})
				})
				out += fmt.Sprintln(list)
			}
			return out
		}
		before := look()
		if err := h.views.Verify(ctx(h)); err != nil {
			h.Error(err)
		}
		if err := h.views.Rebuild(ctx(h)); err != nil {
			h.Fatal(err)
		}
		if after := look(); after != before {
			h.Errorf("after a rebuild:\n%s\nbefore:\n%s", after, before)
		}
		fresh, err := sqlview.Follow(ctx(h), h.ledger, "")
		if err != nil {
			h.Fatal(err)
		}
		kept, was := h.views, h.app
		defer func() {
			h.views, h.app = kept, was
			if err := fresh.Close(); err != nil {
				h.Error(err)
			}
		}()
		h.views = fresh
		if h.app, err = usecase.New(h.ledger, fresh.Store(), usecase.Options{Now: h.now}); err != nil {
			h.Fatal(err)
		}
		if after := look(); after != before {
			h.Errorf("after a restart:\n%s\nbefore:\n%s", after, before)
		}
	})
}
