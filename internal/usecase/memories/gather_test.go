package memories_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/usecase/conversations"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

func (h *harness) gather(by caller.Caller, q memories.Gather) memories.Gathered {
	h.Helper()
	h.settle()
	g, err := h.store.Gather(h.Context(), by, q)
	if err != nil {
		h.Fatalf("%+v: %v", q, err)
	}
	return g
}

func ids(g memories.Gathered) (all []string) {
	for _, m := range g.Memory {
		all = append(all, m.ID)
	}
	return all
}

func TestAnEnvelopeHoldsWhatIsRequestedThenPinnedThenRecent(t *testing.T) {
	h := open(t)
	taskID := h.task(1, "ann", owned("ann"))
	other := h.task(2, "ann", owned("ann"))
	ann := agent("ann")
	store := func(in memories.RememberInput) string { return h.remember(ann, in).ID }
	private := store(memories.RememberInput{Title: "mine", Text: "orders: a private note", Importance: 0.3})
	store(memories.RememberInput{Text: "orders: pinned, but private", Pinned: true})
	elsewhere := h.remember(operator, memories.RememberInput{Text: "orders: of another task", Scope: memory.Task, Task: other, Pinned: true}).ID
	pinned := h.remember(operator, memories.RememberInput{Text: "never delete anything", Scope: memory.Workspace, Pinned: true}).ID
	store(memories.RememberInput{Text: "pinned, but no operator has agreed", Scope: memory.Workspace, Pinned: true})
	pinnedHere := store(memories.RememberInput{Text: "this task is urgent", Scope: memory.Task, Task: taskID, Pinned: true})
	here := store(memories.RememberInput{Text: "the orders table is locked at night", Scope: memory.Task, Task: taskID})
	store(memories.RememberInput{Text: "nothing to do with it", Scope: memory.Workspace})
	all := store(memories.RememberInput{Text: "migrate with care", Scope: memory.Workspace})
	gone := store(memories.RememberInput{Text: "orders: " + secret, Scope: memory.Workspace, Pinned: true})
	must[memories.Item](t)(h.items.Forget(t.Context(), ann, gone))
	hidden := h.remember(agent("bob"), memories.RememberInput{Text: "orders: bob's own"}).ID

	g := h.gather(ann, memories.Gather{
		Task: h.tasks[home+"/"+taskID], Recent: 5,
		Requested: []memory.Reference{{ID: private}, {ID: hidden}, {ID: gone}, {ID: "mem_none"}, {ID: private}},
	})
	got := ids(g)
	if len(got) != 5 || got[0] != private || !slices.Equal(got[1:3], []string{pinned, pinnedHere}) ||
		!slices.Contains(got[3:], here) || !slices.Contains(got[3:], all) {
		t.Errorf("memory: %q of %+v", got, g.Memory)
	}
	m := g.Memory[0]
	if m.Title != "mine" || m.Text != "orders: a private note" || m.Version != 1 || m.Digest == "" || m.Author != "ann" || m.Importance != 0.3 || m.Pinned {
		t.Errorf("%+v", m)
	}
	want := []envelope.Gap{
		{Kind: envelope.PartMemory, ID: hidden, Reason: envelope.GapNotFound},
		{Kind: envelope.PartMemory, ID: gone, Reason: envelope.GapForgotten},
		{Kind: envelope.PartMemory, ID: "mem_none", Reason: envelope.GapNotFound},
	}
	if fmt.Sprint(g.Gaps) != fmt.Sprint(want) {
		t.Errorf("gaps: %+v, want %+v", g.Gaps, want)
	}
	if strings.Contains(fmt.Sprintf("%+v", g), secret) {
		t.Error("a forgotten text is sealed")
	}
	h.seal(taskID, g.Memory, "") // an envelope takes it

	if g := h.gather(ann, memories.Gather{Task: h.tasks[home+"/"+taskID]}); !slices.Equal(ids(g), []string{pinned, pinnedHere}) {
		t.Errorf("nothing asked for: %q", ids(g))
	}
	if g := h.gather(ann, memories.Gather{Task: h.tasks[home+"/"+taskID], Recent: 1, About: "what is locked?"}); !slices.Equal(ids(g)[2:], []string{here}) {
		t.Errorf("about a lock: %+v", g.Memory)
	}
	// "all" has a word of the intent and none of the ask.
	if g := h.gather(ann, memories.Gather{Task: h.tasks[home+"/"+taskID], Recent: 5, About: "what is locked?"}); !slices.Contains(ids(g), here) || !slices.Contains(ids(g), all) {
		t.Errorf("about a lock, and what the task is about: %+v", g.Memory)
	}
	if g := h.gather(ann, memories.Gather{Task: h.tasks[home+"/"+taskID], Requested: []memory.Reference{{ID: elsewhere}}}); g.Memory[0].ID != elsewhere {
		t.Errorf("of another task, on request: %+v", g)
	}
	// The server itself asks: what counts is what the task's holder may read.
	g = h.gather(caller.System(home, "courier"), memories.Gather{Task: h.tasks[home+"/"+taskID], Recent: 5, Requested: []memory.Reference{{ID: hidden}, {ID: private}}})
	if got := ids(g); len(got) != 5 || got[0] != private || len(g.Gaps) != 1 {
		t.Errorf("of the server: %q, %+v", got, g.Gaps)
	}
	h.tasks[home+"/"+taskID] = task.Task{ID: taskID, State: event.Pending, Requester: "agent/bob"}
	if g = h.gather(caller.System(home, "courier"), memories.Gather{Task: h.tasks[home+"/"+taskID], Requested: []memory.Reference{{ID: private}}}); len(g.Gaps) != 1 {
		t.Errorf("ann's private item goes into an envelope of bob's: %+v", g)
	}
}

func TestTheServerGathersNothingThatOnlyARoleMayRead(t *testing.T) {
	h := open(t)
	id := h.task(1, "ann", owned("ann"))
	private := h.remember(agent("ann"), memories.RememberInput{Text: "orders: a private note"}).ID
	ask := memories.Gather{Requested: []memory.Reference{{ID: private}}, Recent: 5, About: "orders"}
	for _, requester := range []string{"operator/kim", "admin/owner", "auditor/eve"} {
		ask.Task = task.Task{ID: id, State: event.Pending, Requester: requester}
		g := h.gather(caller.System(home, "courier"), ask)
		if len(g.Memory) != 0 || len(g.Gaps) != 1 || g.Gaps[0].Reason != envelope.GapNotFound {
			t.Errorf("for %s: %+v, %+v", requester, g.Memory, g.Gaps)
		}
	}
	ask.Task = task.Task{ID: id, State: event.Pending, Requester: "agent/ann"}
	if g := h.gather(caller.System(home, "courier"), ask); len(g.Memory) != 1 {
		t.Errorf("for ann: %+v", g)
	}
}

func TestWhatGoesIntoAnEnvelopeIsBounded(t *testing.T) {
	h := open(t)
	task := h.tasks[home+"/"+h.task(1, "ann", owned("ann"))]
	ann := agent("ann")
	var asked []memory.Reference
	for n := range 3 {
		x := h.remember(operator, memories.RememberInput{Text: fmt.Sprint(n) + strings.Repeat(" migrate", 12_000), Scope: memory.Workspace, Pinned: n == 2})
		asked = append(asked, memory.Reference{ID: x.ID})
	}
	for range 40 {
		h.remember(operator, memories.RememberInput{Text: "small", Scope: memory.Workspace, Pinned: true})
	}
	g := h.gather(ann, memories.Gather{Task: task, Requested: asked[:2], Recent: 10})
	if len(g.Memory) != 34 || g.Memory[0].Text == "" || g.Memory[1].Text == "" {
		t.Errorf("%d items", len(g.Memory))
	}
	g = h.gather(ann, memories.Gather{Task: task, Requested: asked})
	if len(g.Memory) != 35 || g.Memory[2].Text != "" || g.Memory[2].Digest == "" || g.Memory[3].Text != "small" {
		t.Errorf("what there is no room for goes as a reference: %.300v", g.Memory)
	}
	var long []memory.Reference
	for n := range 3 {
		x := h.remember(ann, memories.RememberInput{Text: fmt.Sprint(n) + strings.Repeat(" migrate", 12_000)})
		long = append(long, memory.Reference{ID: x.ID})
	}
	if g = h.gather(ann, memories.Gather{Task: task, Requested: long}); g.Memory[1].Text == "" || g.Memory[2].Text != "" || g.Memory[3].Text != "small" {
		t.Error("what is asked for leaves no room for what is pinned")
	}
	ours := h.remember(ann, memories.RememberInput{Text: "ours", Scope: memory.Task, Task: task.ID, Pinned: true})
	for range 40 {
		h.remember(operator, memories.RememberInput{Text: "noise", Scope: memory.Workspace, Pinned: true})
	}
	if g = h.gather(ann, memories.Gather{Task: task}); len(g.Memory) != 33 || g.Memory[32].ID != ours.ID || g.Pins != 49 {
		t.Errorf("what is pinned in the workspace crowds out what is pinned in the task: %q, and %d others", ids(g), g.Pins)
	}
	for n := range memory.MaxPins - 1 {
		h.remember(ann, memories.RememberInput{Text: fmt.Sprint(n) + strings.Repeat(" long", 8_000), Scope: memory.Task, Task: task.ID, Pinned: true})
	}
	rule := h.remember(operator, memories.RememberInput{Text: strings.Repeat("a rule ", 4_000), Scope: memory.Workspace, Pinned: true})
	if g = h.gather(ann, memories.Gather{Task: task, Requested: long}); g.Memory[3].ID != rule.ID || g.Memory[3].Text == "" {
		t.Errorf("what agents ask for and have pinned leaves no room for what an operator has pinned: %q", ids(g))
	}
	_, err := h.store.Gather(t.Context(), ann, memories.Gather{Task: task, Requested: make([]memory.Reference, memories.MaxRequested+1)})
	refused(t, "too many", err, refusal.TooLarge)
	for name, q := range map[string]memories.Gather{
		"no id": {Requested: []memory.Reference{{}}}, "half a reference": {Requested: []memory.Reference{{ID: "m", Digest: "sha256:1"}}},
		"too many recent": {Recent: memories.MaxRecent + 1}, "fewer than none": {Recent: -1},
	} {
		_, err := h.store.Gather(t.Context(), ann, q)
		refused(t, name, err, refusal.Invalid)
	}
}

func TestAnEnvelopeGrantsItsVersionsWhileTheTaskIsHeld(t *testing.T) {
	h := open(t)
	taskID := h.task(1, "ann", owned("ann"))
	ann, bob := agent("ann"), agent("bob")
	x := h.remember(ann, memories.RememberInput{Title: "key", Text: "one", Tags: []string{"t"}})
	y := h.remember(ann, memories.RememberInput{Text: "left out for want of room"})
	g := h.gather(ann, memories.Gather{Task: h.tasks[home+"/"+taskID], Requested: []memory.Reference{{ID: x.ID}, {ID: y.ID}}})
	source := h.seal(taskID, g.Memory, "")
	packed := h.seal(taskID, g.Memory[:1], source)
	ref := memories.MemoryInput{ID: x.ID, Version: 1, Digest: x.Digest}
	denied := func(when string, by caller.Caller) {
		t.Helper()
		for _, in := range []memories.MemoryInput{ref, {ID: x.ID}, {ID: x.ID, Task: taskID}, {ID: x.ID, Version: 1, Task: taskID}, {ID: y.ID}} {
			_, err := h.read(by, in)
			refused(t, when, err, refusal.NotFound)
		}
	}
	offer := func(claim bool) func(*task.Task) {
		return func(t *task.Task) {
			t.Handoff = &task.Handoff{N: 1, Stage: event.Offered, Claim: claim, To: []string{"bob"}, Envelope: source, Rendition: packed}
		}
	}
	denied("before", bob)
	h.stands(taskID, offer(true))
	denied("a claim is not won", bob)
	h.stands(taskID, offer(false))
	if got, err := h.read(bob, memories.MemoryInput{ID: x.ID, Task: taskID}); err != nil || got.Text != "one" {
		t.Errorf("offered: %+v, %v", got, err)
	}
	h.stands(taskID, func(t *task.Task) {
		owned("ann", "bob")(t)
		t.Handoff.Stage, t.Held = event.Transferred, packed
	})
	got := must[memories.Item](t)(h.read(bob, memories.MemoryInput{ID: x.ID, Task: taskID}))
	if got.Text != "one" || got.Title != "key" || got.Status != memory.Current || got.Digest != x.Digest || got.Author != "agent/ann" ||
		got.Tags != nil || got.Scope != "" || got.Versions != 0 {
		t.Errorf("held: %+v", got)
	}
	if got, err := h.read(bob, memories.MemoryInput{ID: y.ID, Task: taskID}); err != nil || got.Text != "left out for want of room" {
		t.Errorf("what was left out: %+v, %v", got, err)
	}
	must[memories.Item](t)(h.items.Revise(t.Context(), ann, memories.ReviseInput{ID: x.ID, Text: "two, for ann"}))
	ref.Task = taskID
	if got := must[memories.Item](t)(h.read(bob, ref)); got.Text != "one" || got.Version != 1 || got.Status != memory.Changed {
		t.Errorf("after a change: %+v", got)
	}
	_, err := h.read(bob, memories.MemoryInput{ID: x.ID, Version: 2, Task: taskID})
	refused(t, "a version that was not granted", err, refusal.NotFound)
	_, err = h.items.Versions(t.Context(), bob, memories.VersionsInput{ID: x.ID})
	refused(t, "all versions", err, refusal.NotFound)
	_, err = h.items.Pin(t.Context(), bob, x.ID)
	refused(t, "a change", err, refusal.NotFound)
	h.wantFound(bob, memories.SearchInput{})
	denied("another agent", agent("eve"))

	// Bob may hand on what he was given, as it was.
	g = h.gather(bob, memories.Gather{Task: h.tasks[home+"/"+taskID], Requested: []memory.Reference{{ID: x.ID}}})
	if len(g.Memory) != 1 || g.Memory[0].Text != "one" || g.Memory[0].Version != 1 {
		t.Errorf("handed on: %+v", g)
	}
	must[memories.Item](t)(h.items.Forget(t.Context(), ann, y.ID))
	if got, err := h.read(bob, memories.MemoryInput{ID: y.ID, Task: taskID}); err != nil || got.Status != memory.Forgotten || got.Text != "" {
		t.Errorf("forgotten: %+v, %v", got, err)
	}
	h.stands(taskID, func(t *task.Task) { owned("ann", "bob", "cy")(t); t.Held = h.seal(taskID, nil, "") })
	denied("the task has moved on", bob)
	denied("with another envelope", agent("cy"))
	h.stands(taskID, func(t *task.Task) { owned("ann", "bob", "cy", "bob")(t); t.Held = packed })
	must[memories.Item](t)(h.read(bob, ref))
	h.stands(taskID, func(t *task.Task) { t.State = event.Completed })
	denied("the task has ended", bob)
}

// liar is a view that finds everything, for every caller.
type liar struct {
	view.MemoryQueries
	ids []string
}

func (l liar) Memory(context.Context, string, view.MemoryFilter) (found []view.MemoryHit, err error) {
	for n, id := range l.ids {
		found = append(found, view.MemoryHit{ID: id, At: ledger.Position(n + 1)})
	}
	return found, nil
}

func TestWhatViewsFindIsCheckedOnceMore(t *testing.T) {
	h := open(t)
	task := h.task(1, "ann", owned("ann"))
	bobs := h.remember(agent("bob"), memories.RememberInput{Text: "bob's " + secret})
	mine := h.remember(agent("ann"), memories.RememberInput{Text: "ann's own", Pinned: true})
	gone := h.remember(agent("ann"), memories.RememberInput{Text: "gone " + secret, Scope: memory.Workspace})
	theirs := h.remember(operator, memories.RememberInput{Text: "of a task", Scope: memory.Task, Task: task})
	must[memories.Item](t)(h.items.Forget(t.Context(), agent("ann"), gone.ID))
	store := h.views.Store()
	store.MemoryQueries = liar{store.MemoryQueries, []string{bobs.ID, mine.ID, gone.ID, theirs.ID}}
	h.build(store)
	h.wantFound(agent("ann"), memories.SearchInput{Scope: memory.Private}, mine.ID)
	h.wantFound(agent("eve"), memories.SearchInput{Scope: memory.Private})
	if g := h.gather(agent("ann"), memories.Gather{Task: h.tasks[home+"/"+task], Recent: 9}); !slices.Equal(ids(g), []string{theirs.ID}) {
		t.Errorf("ann's envelope has %+v", g.Memory)
	}
	if g := h.gather(agent("eve"), memories.Gather{Task: h.tasks[home+"/"+task], Recent: 9}); len(g.Memory) > 0 {
		t.Errorf("eve's envelope has %+v", g.Memory)
	}
}

func TestWithoutATaskTheEnvelopesOfWhatIsHeldAreLookedThrough(t *testing.T) {
	h := open(t)
	ann, bob := agent("ann"), agent("bob")
	x := h.remember(ann, memories.RememberInput{Text: "one"})
	taskID := h.started(7, "ann", "bob")
	h.stands(taskID, func(s *task.Task) {
		s.Held = h.seal(taskID, []envelope.MemoryRef{{ID: x.ID, Version: 1, Digest: x.Digest}}, "")
	})
	h.settle()
	if got, err := h.read(bob, memories.MemoryInput{ID: x.ID}); err != nil || got.Text != "one" {
		t.Errorf("%+v, %v", got, err)
	}
	if got := h.reads(bob); len(got) != 1 || !strings.HasPrefix(got[0], taskID) {
		t.Errorf("recorded: %q", got)
	}
}

// A stream of events looks through the envelopes of its reader's tasks once, and again after an entry of a task that the reader sees.
func TestAStreamLooksThroughEnvelopesOnlyWhenTasksHaveChanged(t *testing.T) {
	h := open(t)
	ann, bob := agent("ann"), agent("bob")
	private, given := h.remember(ann, memories.RememberInput{Text: "mine"}), h.remember(ann, memories.RememberInput{Text: "one"})
	taskID := h.started(7, "ann", "bob")
	grant := func(list ...memories.Item) {
		var refs []envelope.MemoryRef
		for _, x := range list {
			refs = append(refs, envelope.MemoryRef{ID: x.ID, Version: 1, Digest: x.Digest})
		}
		h.stands(taskID, func(s *task.Task) { s.Held = h.seal(taskID, refs, "") })
	}
	grant(given)
	told := h.store.Told(bob)
	since := ledger.Position(0)
	for _, c := range []struct {
		what   string
		item   string
		before func()
		want   bool
		opened int
	}{
		{"a private item", private.ID, nil, false, 1},
		{"a private item again", private.ID, nil, false, 0},
		{"an item that is granted", given.ID, nil, true, 1},
		{"an item that is granted no more", given.ID, func() { grant() }, false, 2},
		{"an item of a new grant, of which no entry is known yet", given.ID, func() { grant(given) }, false, 0},
		{"an item of a new grant", given.ID, func() { since = must[ledger.Position](t)(h.ledger.Last(t.Context())) }, true, 1},
		{"a private item after it", private.ID, nil, false, 0},
		{"a private item, while the views are behind", private.ID, func() { since += 1000 }, false, 1},
		{"a private item, while the views are still behind", private.ID, nil, false, 1},
	} {
		must[memories.Item](t)(h.items.Revise(t.Context(), ann, memories.ReviseInput{ID: c.item, Text: c.what}))
		h.settle()
		if c.before != nil {
			c.before()
		}
		stream := must[[]ledger.Entry](t)(h.ledger.Stream(t.Context(), memories.StreamOf(home, c.item), 0, 100))
		h.opened = 0
		if got := must[bool](t)(told(t.Context(), stream[len(stream)-1], since)); got != c.want || h.opened != c.opened {
			t.Errorf("%s: told %v after %d envelopes, want %v after %d", c.what, got, h.opened, c.want, c.opened)
		}
	}
}

func TestAnotherWorkspaceKnowsNothing(t *testing.T) {
	h := open(t)
	task := h.task(1, "ann", owned("ann"))
	x := h.remember(agent("ann"), memories.RememberInput{Text: "ours", Scope: memory.Workspace, Pinned: true})
	h.say(agent("ann"), conversations.AppendTurnInput{Conversation: "c", Text: secret, Task: task})
	away := agent("ann")
	away.Workspace = "elsewhere"
	for _, by := range []caller.Caller{away, {Principal: operatorIn("elsewhere")}} {
		_, err := h.read(by, memories.MemoryInput{ID: x.ID, Task: task})
		refused(t, "reads", err, refusal.NotFound)
		h.wantFound(by, memories.SearchInput{})
		h.wantFound(by, memories.SearchInput{Text: "ours"})
		_, err = h.talks.Show(t.Context(), by, conversations.ConversationInput{ID: "c"})
		refused(t, "reads the conversation", err, refusal.NotFound)
		list, err := h.talks.List(t.Context(), by, conversations.ConversationsInput{})
		if err != nil || len(list.Conversations) > 0 {
			t.Errorf("%+v, %v", list, err)
		}
		g := h.gather(by, memories.Gather{Task: h.tasks[home+"/"+task], Requested: []memory.Reference{{ID: x.ID}}})
		if len(g.Memory) > 0 || g.Turns != nil || len(g.Gaps) != 1 {
			t.Errorf("%+v", g)
		}
	}
	h.say(away, conversations.AppendTurnInput{Conversation: "c", Text: "another"})
	if err := h.views.Verify(context.Background()); err != nil {
		t.Error(err)
	}
}
