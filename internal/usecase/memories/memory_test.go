package memories_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/conversations"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

func TestAScopeSaysWhoReadsAnItem(t *testing.T) {
	h := open(t)
	taskID := h.task(1, "lead", func(t *task.Task) {
		owned("scout", "coder")(t)
		t.Handoff = &task.Handoff{N: 2, Stage: event.AwaitingApproval, Approver: "boss", To: []string{"other"}}
	})
	private := h.remember(agent("coder"), memories.RememberInput{Text: "private " + secret})
	ours := h.remember(agent("coder"), memories.RememberInput{Text: "ours " + secret, Scope: memory.Task, Task: taskID})
	all := h.remember(agent("coder"), memories.RememberInput{Text: "everybody's", Scope: memory.Workspace})
	if private.Scope != memory.Private || private.Text != "" || !strings.HasPrefix(private.ID, "mem_") || private.Author != "agent/coder" {
		t.Errorf("stored: %+v", private)
	}
	check := func(when string, want map[string][]memories.Item) {
		t.Helper()
		for name, items := range want {
			by := agent(name)
			switch name {
			case "olga":
				by = operator
			case "kim":
				by = auditor
			}
			ids := []string{}
			for _, x := range []memories.Item{all, ours, private} {
				if slices.ContainsFunc(items, func(i memories.Item) bool { return i.ID == x.ID }) {
					ids = append(ids, x.ID)
					if got, err := h.read(by, memories.MemoryInput{ID: x.ID}); err != nil || got.Text == "" || got.Status != memory.Current {
						t.Errorf("%s, %s reads %s: %+v, %v", when, name, x.ID, got, err)
					}
					continue
				}
				_, err := h.read(by, memories.MemoryInput{ID: x.ID})
				refused(t, when+", "+name+" reads", err, refusal.NotFound)
				_, err = h.items.Versions(t.Context(), by, memories.VersionsInput{ID: x.ID})
				refused(t, when+", "+name+" reads the versions", err, refusal.NotFound)
				_, err = h.items.Forget(t.Context(), by, x.ID)
				refused(t, when+", "+name+" forgets", err, refusal.NotFound)
			}
			h.wantFound(by, memories.SearchInput{}, ids...)
			h.wantFound(by, memories.SearchInput{Scope: memory.Task}, slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id != ours.ID })...)
		}
	}
	_, err := h.items.Forget(t.Context(), agent("lead"), ours.ID)
	refused(t, "who may read forgets", err, refusal.NotPermitted)
	everything := []memories.Item{all, ours, private}
	check("while it lives", map[string][]memories.Item{
		"coder": everything, "kim": everything, "olga": everything,
		"lead": {all, ours}, "scout": {all}, "boss": {all, ours},
		"other": {all}, "stranger": {all},
	})
	h.stands(taskID, func(t *task.Task) { t.State = event.Completed })
	check("when it has ended", map[string][]memories.Item{
		"coder": everything, "kim": everything, "lead": {all}, "scout": {all}, "boss": {all}, "other": {all},
	})
}

func TestWhoMayReadMayNotChange(t *testing.T) {
	h := open(t)
	x := h.remember(agent("ann"), memories.RememberInput{Text: "for all", Scope: memory.Workspace})
	for name, change := range map[string]func(caller.Caller) (memories.Item, error){
		"revise": func(c caller.Caller) (memories.Item, error) {
			return h.items.Revise(t.Context(), c, memories.ReviseInput{ID: x.ID, Text: "mine"})
		},
		"pin":   func(c caller.Caller) (memories.Item, error) { return h.items.Pin(t.Context(), c, x.ID) },
		"unpin": func(c caller.Caller) (memories.Item, error) { return h.items.Unpin(t.Context(), c, x.ID) },
		"tag": func(c caller.Caller) (memories.Item, error) {
			return h.items.Tag(t.Context(), c, memories.TagInput{ID: x.ID, Tags: []string{"b", "a", "b"}})
		},
		"weigh": func(c caller.Caller) (memories.Item, error) {
			return h.items.Weigh(t.Context(), c, memories.WeighInput{ID: x.ID, Importance: 0.5})
		},
	} {
		_, err := change(agent("bob"))
		refused(t, name+" by another", err, refusal.NotPermitted)
		_, err = change(auditor)
		refused(t, name+" by an auditor", err, refusal.NotPermitted)
		if _, err := change(operator); err != nil {
			t.Errorf("%s by an operator: %v", name, err)
		}
	}
	got := must[memories.Item](t)(h.read(agent("bob"), memories.MemoryInput{ID: x.ID}))
	if got.Text != "mine" || got.Version != 2 || got.Versions != 2 || !slices.Equal(got.Tags, []string{"a", "b"}) || got.Importance != 0.5 {
		t.Errorf("%+v", got)
	}
	_, err := h.items.Remember(t.Context(), auditor, memories.RememberInput{Text: "x"})
	refused(t, "an auditor stores", err, refusal.NotPermitted)
	_, err = h.items.Remember(t.Context(), caller.Caller{}, memories.RememberInput{Text: "x"})
	refused(t, "nobody stores", err, refusal.Unauthenticated)
	_, err = h.items.Search(t.Context(), caller.Caller{}, memories.SearchInput{})
	refused(t, "nobody searches", err, refusal.Unauthenticated)
	_, err = h.read(caller.Caller{}, memories.MemoryInput{ID: x.ID})
	refused(t, "nobody reads", err, refusal.Unauthenticated)
}

func TestALazyReferenceShowsAChangeAndYieldsTheNewest(t *testing.T) {
	h := open(t)
	ann := agent("ann")
	x := h.remember(ann, memories.RememberInput{Title: "plan", Text: "one", Scope: memory.Workspace})
	ref := memories.MemoryInput{ID: x.ID, Version: x.Version, Digest: x.Digest}
	if got := must[memories.Item](t)(h.read(agent("bob"), ref)); got.Status != memory.Current || got.Text != "one" || got.Digest != x.Digest {
		t.Errorf("%+v", got)
	}
	two := must[memories.Item](t)(h.items.Revise(t.Context(), ann, memories.ReviseInput{ID: x.ID, Title: "plan", Text: "two", Expect: 1}))
	if got := must[memories.Item](t)(h.read(agent("bob"), ref)); got.Status != memory.Changed || got.Text != "two" || got.Version != 2 || got.Digest != two.Digest {
		t.Errorf("%+v", got)
	}
	if got := must[memories.Item](t)(h.read(agent("bob"), memories.MemoryInput{ID: x.ID, Version: 1})); got.Status != memory.Changed || got.Text != "one" {
		t.Errorf("the first version: %+v", got)
	}
	if got := must[memories.Item](t)(h.read(agent("bob"), memories.MemoryInput{ID: x.ID})); got.Status != memory.Current || got.Text != "two" {
		t.Errorf("the item: %+v", got)
	}
	_, err := h.items.Revise(t.Context(), ann, memories.ReviseInput{ID: x.ID, Text: "three", Expect: 1})
	refused(t, "what is not the newest", err, refusal.Conflict)
	vs := must[memories.Versions](t)(h.items.Versions(t.Context(), agent("bob"), memories.VersionsInput{ID: x.ID, Limit: 1}))
	if vs.Count != 2 || len(vs.Versions) != 1 || vs.Versions[0].Text != "one" || vs.Versions[0].By != "agent/ann" {
		t.Errorf("%+v", vs)
	}
	vs = must[memories.Versions](t)(h.items.Versions(t.Context(), agent("bob"), memories.VersionsInput{ID: x.ID, After: 1}))
	if len(vs.Versions) != 1 || vs.Versions[0].Text != "two" {
		t.Errorf("%+v", vs)
	}
	for name, in := range map[string]memories.MemoryInput{
		"a version that is not there": {ID: x.ID, Version: 3},
		"another's digest":            {ID: x.ID, Version: 1, Digest: two.Digest},
		"an item that is not there":   {ID: "mem_0"},
	} {
		_, err := h.read(agent("bob"), in)
		refused(t, name, err, refusal.NotFound)
	}
	for name, in := range map[string]memories.MemoryInput{
		"no id": {}, "half a reference": {ID: x.ID, Digest: x.Digest}, "no version": {ID: x.ID, Version: -1}, "no digest": {ID: x.ID, Version: 1, Digest: "x"},
		"odd": {ID: "a\x00b"},
	} {
		_, err := h.read(agent("bob"), in)
		refused(t, name, err, refusal.Invalid)
	}
}

func TestAForgottenItemGivesOutNothing(t *testing.T) {
	h := open(t)
	ann := agent("ann").WithKey("the-key")
	in := memories.RememberInput{Title: secret, Text: "the password is " + secret, Scope: memory.Workspace, Tags: []string{secret}, Pinned: true}
	x := must[memories.Item](t)(h.items.Remember(t.Context(), ann, in))
	again := must[memories.Item](t)(h.items.Remember(t.Context(), ann, in))
	if again.ID != x.ID || !again.Repeat || again.Title != secret {
		t.Errorf("repeated: %+v", again)
	}
	must[memories.Item](t)(h.items.Revise(t.Context(), agent("ann"), memories.ReviseInput{ID: x.ID, Text: "it was " + secret}))
	gone := must[memories.Item](t)(h.items.Forget(t.Context(), agent("ann"), x.ID))
	again = must[memories.Item](t)(h.items.Remember(t.Context(), ann, in))
	h.settle()
	answers := []any{gone, again}
	for _, by := range []caller.Caller{agent("ann"), agent("bob"), operator, auditor} {
		for _, in := range []memories.MemoryInput{{ID: x.ID}, {ID: x.ID, Version: 1}, {ID: x.ID, Version: 1, Digest: x.Digest}} {
			got := must[memories.Item](t)(h.read(by, in))
			if got.Status != memory.Forgotten || got.Forgotten.IsZero() || got.Digest != "" {
				t.Errorf("%+v gives %+v", in, got)
			}
			answers = append(answers, got)
		}
		_, err := h.items.Versions(t.Context(), by, memories.VersionsInput{ID: x.ID})
		refused(t, "its versions", err, refusal.NotFound)
		for _, in := range []memories.SearchInput{{}, {Text: secret}, {Tag: secret}, {Pinned: true}, {Agent: "ann"}} {
			h.wantFound(by, in)
		}
	}
	for _, a := range answers {
		if strings.Contains(fmt.Sprintf("%+v", a), secret) {
			t.Errorf("it is in %+v", a)
		}
	}
	_, err := h.items.Revise(t.Context(), agent("ann"), memories.ReviseInput{ID: x.ID, Text: "again"})
	refused(t, "revise what is forgotten", err, refusal.Conflict)
}

func TestWhatIsStoredUnderOneKeyIsStoredOnce(t *testing.T) {
	h := open(t)
	in := memories.RememberInput{Text: "one"}
	first := must[memories.Item](t)(h.items.Remember(t.Context(), agent("ann").WithKey("k"), in))
	h.restart()
	again := must[memories.Item](t)(h.items.Remember(t.Context(), agent("ann").WithKey("k"), in))
	other := must[memories.Item](t)(h.items.Remember(t.Context(), agent("bob").WithKey("k"), in))
	if again.ID != first.ID || !again.Repeat || other.ID == first.ID || other.Repeat {
		t.Errorf("%+v, %+v, %+v", first, again, other)
	}
	_, err := h.items.Remember(t.Context(), agent("ann").WithKey("k"), memories.RememberInput{Text: "two"})
	refused(t, "another under the same key", err, refusal.Conflict)
	revise := memories.ReviseInput{ID: first.ID, Text: "new"}
	a := must[memories.Item](t)(h.items.Revise(t.Context(), agent("ann").WithKey("r"), revise))
	must[memories.Item](t)(h.items.Revise(t.Context(), agent("ann"), memories.ReviseInput{ID: first.ID, Text: "newer"}))
	b := must[memories.Item](t)(h.items.Revise(t.Context(), agent("ann").WithKey("r"), revise))
	if a.Version != 2 || b.Version != 2 || !b.Repeat || b.Position != a.Position {
		t.Errorf("%+v, %+v", a, b)
	}
}

func TestASearchIsNarrowedPagedAndBounded(t *testing.T) {
	h := open(t)
	ann := agent("ann")
	task := h.task(1, "ann", nil)
	var ids []string
	for n := range 5 {
		x := h.remember(ann, memories.RememberInput{Text: fmt.Sprintf("note %d about apples", n), Scope: memory.Workspace, Tags: []string{"fruit"}})
		ids = append([]string{x.ID}, ids...)
	}
	in := h.remember(ann, memories.RememberInput{Text: strings.Repeat("padding ", 200) + "the Apple falls not far " + strings.Repeat("padding ", 200), Scope: memory.Task, Task: task, Conversation: "c"})
	h.settle()
	page := must[memories.FoundItems](t)(h.items.Search(t.Context(), ann, memories.SearchInput{Tag: "fruit", Limit: 3}))
	if len(page.Items) != 3 || page.Next == 0 {
		t.Fatalf("%+v", page)
	}
	rest := must[memories.FoundItems](t)(h.items.Search(t.Context(), ann, memories.SearchInput{Tag: "fruit", Limit: 3, After: page.Next}))
	var got []string
	for _, x := range append(page.Items, rest.Items...) {
		got = append(got, x.ID)
		if x.Text != "" || !strings.HasPrefix(x.Excerpt, "note ") {
			t.Errorf("%+v", x)
		}
	}
	if !slices.Equal(got, ids) || rest.Next != 0 {
		t.Errorf("%q, then %d; want %q", got, rest.Next, ids)
	}
	found := must[memories.FoundItems](t)(h.items.Search(t.Context(), ann, memories.SearchInput{Text: "apple?", Conversation: "c"}))
	if len(found.Items) != 1 || found.Items[0].ID != in.ID || !strings.Contains(found.Items[0].Excerpt, "… ") ||
		!strings.Contains(found.Items[0].Excerpt, "Apple falls") || len(found.Items[0].Excerpt) > 320 {
		t.Errorf("%+v", found)
	}
	h.wantFound(agent("eve"), memories.SearchInput{Task: task})
	h.wantFound(ann, memories.SearchInput{Since: h.now.Add(time.Hour)})
	for name, in := range map[string]memories.SearchInput{
		"a page of what is ranked": {Text: "x", After: 3}, "too many": {Limit: 501}, "fewer than none": {Limit: -1}, "no tag": {Tag: "A B"}, "no task": {Task: "x"},
		"no conversation": {Conversation: "../x"}, "no scope": {Scope: "world"}, "a time that is none": {Since: h.now, Until: h.now},
	} {
		_, err := h.items.Search(t.Context(), ann, in)
		refused(t, name, err, refusal.Invalid)
	}
	_, err := h.items.Search(t.Context(), ann, memories.SearchInput{Text: strings.Repeat("x", 2001)})
	refused(t, "too long", err, refusal.TooLarge)
}

func TestAnItemBelongsToNoTaskThatIsNoneOfItsAuthorsBusiness(t *testing.T) {
	h := open(t)
	task := h.task(1, "lead", owned("coder"))
	_, err := h.items.Remember(t.Context(), agent("stranger"), memories.RememberInput{Text: "poison", Scope: memory.Task, Task: task})
	refused(t, "a stranger's item", err, refusal.NotFound)
	_, err = h.items.Remember(t.Context(), agent("coder"), memories.RememberInput{Text: "x", Scope: memory.Task})
	refused(t, "no task", err, refusal.Invalid)
	h.remember(operator, memories.RememberInput{Text: "from above", Scope: memory.Task, Task: task})
	if got := h.finds(agent("coder"), memories.SearchInput{}); len(got) != 1 {
		t.Errorf("coder finds %q", got)
	}
}

func TestAReadIsRecordedBeforeItIsAnswered(t *testing.T) {
	h := open(t)
	task := h.task(1, "lead", owned("coder"))
	x := h.remember(agent("coder"), memories.RememberInput{Text: "ours", Scope: memory.Task, Task: task})
	y := h.remember(agent("coder"), memories.RememberInput{Text: "all", Scope: memory.Workspace})
	lead := agent("lead")
	must[memories.Item](t)(h.read(lead, memories.MemoryInput{ID: x.ID}))
	h.finds(lead, memories.SearchInput{})
	h.finds(lead, memories.SearchInput{Text: "nothing"})
	must[memories.Versions](t)(h.items.Versions(t.Context(), lead, memories.VersionsInput{ID: x.ID}))
	h.say(lead, conversations.AppendTurnInput{Conversation: "c", Text: "hi"})
	must[conversations.Conversation](t)(h.talks.Show(t.Context(), lead, conversations.ConversationInput{ID: "c"}))
	must[conversations.Continuity](t)(h.talks.Continuity(t.Context(), lead, conversations.ContinuityInput{ID: "c"}))
	want := []string{
		task + " memory " + x.ID + " version 1", "memory search " + y.ID + "@1," + x.ID + "@1", task + " versions of memory " + x.ID + " 1",
		"conversation c~lead", "continuity of c~lead",
	}
	if got := h.reads(lead); !slices.Equal(got, want) {
		t.Errorf("recorded: %q\nwant %q", got, want)
	}
	if _, err := h.read(agent("eve"), memories.MemoryInput{ID: x.ID}); err == nil || len(h.reads(agent("eve"))) > 0 {
		t.Errorf("eve: %v, %q", err, h.reads(agent("eve")))
	}
}
