package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/caller"
	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/knowledge"
	"github.com/trapezehq/trapeze/internal/memory"
	"github.com/trapezehq/trapeze/internal/refusal"
)

func TestAScopeSaysWhoReadsAnItem(t *testing.T) {
	h := open(t)
	task := h.task(1, "lead", func(t *custody.Task) {
		owned("scout", "coder")(t)
		t.Handoff = &custody.Handoff{N: 2, Stage: fact.AwaitingApproval, Approver: "boss", To: []string{"other"}}
	})
	private := h.remember(agent("coder"), knowledge.RememberInput{Text: "private " + secret})
	ours := h.remember(agent("coder"), knowledge.RememberInput{Text: "ours " + secret, Scope: memory.Task, Task: task})
	all := h.remember(agent("coder"), knowledge.RememberInput{Text: "everybody's", Scope: memory.Workspace})
	if private.Scope != memory.Private || private.Text != "" || !strings.HasPrefix(private.ID, "mem_") || private.Author != "agent/coder" {
		t.Errorf("stored: %+v", private)
	}
	check := func(when string, want map[string][]knowledge.Item) {
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
			for _, x := range []knowledge.Item{all, ours, private} {
				if slices.ContainsFunc(items, func(i knowledge.Item) bool { return i.ID == x.ID }) {
					ids = append(ids, x.ID)
					if got, err := h.read(by, knowledge.MemoryInput{ID: x.ID}); err != nil || got.Text == "" || got.Status != memory.Current {
						t.Errorf("%s, %s reads %s: %+v, %v", when, name, x.ID, got, err)
					}
					continue
				}
				_, err := h.read(by, knowledge.MemoryInput{ID: x.ID})
				refused(t, when+", "+name+" reads", err, refusal.NotFound)
				_, err = h.base.MemoryVersions(t.Context(), by, knowledge.VersionsInput{ID: x.ID})
				refused(t, when+", "+name+" reads the versions", err, refusal.NotFound)
				_, err = h.base.Forget(t.Context(), by, x.ID)
				refused(t, when+", "+name+" forgets", err, refusal.NotFound)
			}
			h.wantFound(by, knowledge.SearchInput{}, ids...)
			h.wantFound(by, knowledge.SearchInput{Scope: memory.Task}, slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id != ours.ID })...)
		}
	}
	_, err := h.base.Forget(t.Context(), agent("lead"), ours.ID)
	refused(t, "who may read forgets", err, refusal.NotPermitted)
	everything := []knowledge.Item{all, ours, private}
	check("while it lives", map[string][]knowledge.Item{
		"coder": everything, "kim": everything, "olga": everything,
		"lead": {all, ours}, "scout": {all, ours}, "boss": {all, ours},
		"other": {all}, "stranger": {all},
	})
	h.stands(task, func(t *custody.Task) { t.State = fact.Completed })
	check("when it has ended", map[string][]knowledge.Item{
		"coder": everything, "kim": everything, "lead": {all}, "scout": {all}, "boss": {all}, "other": {all},
	})
}

func TestWhoMayReadMayNotChange(t *testing.T) {
	h := open(t)
	x := h.remember(agent("ann"), knowledge.RememberInput{Text: "for all", Scope: memory.Workspace})
	for name, change := range map[string]func(caller.Caller) (knowledge.Item, error){
		"revise": func(c caller.Caller) (knowledge.Item, error) {
			return h.base.Revise(t.Context(), c, knowledge.ReviseInput{ID: x.ID, Text: "mine"})
		},
		"pin":   func(c caller.Caller) (knowledge.Item, error) { return h.base.Pin(t.Context(), c, x.ID) },
		"unpin": func(c caller.Caller) (knowledge.Item, error) { return h.base.Unpin(t.Context(), c, x.ID) },
		"tag": func(c caller.Caller) (knowledge.Item, error) {
			return h.base.Tag(t.Context(), c, knowledge.TagInput{ID: x.ID, Tags: []string{"b", "a", "b"}})
		},
		"weigh": func(c caller.Caller) (knowledge.Item, error) {
			return h.base.Weigh(t.Context(), c, knowledge.WeighInput{ID: x.ID, Importance: 0.5})
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
	got := must[knowledge.Item](t)(h.read(agent("bob"), knowledge.MemoryInput{ID: x.ID}))
	if got.Text != "mine" || got.Version != 2 || got.Versions != 2 || !slices.Equal(got.Tags, []string{"a", "b"}) || got.Importance != 0.5 {
		t.Errorf("%+v", got)
	}
	_, err := h.base.Remember(t.Context(), auditor, knowledge.RememberInput{Text: "x"})
	refused(t, "an auditor stores", err, refusal.NotPermitted)
	_, err = h.base.Remember(t.Context(), caller.Caller{}, knowledge.RememberInput{Text: "x"})
	refused(t, "nobody stores", err, refusal.Unauthenticated)
	_, err = h.base.SearchMemory(t.Context(), caller.Caller{}, knowledge.SearchInput{})
	refused(t, "nobody searches", err, refusal.Unauthenticated)
	_, err = h.read(caller.Caller{}, knowledge.MemoryInput{ID: x.ID})
	refused(t, "nobody reads", err, refusal.Unauthenticated)
}

func TestALazyReferenceShowsAChangeAndYieldsTheNewest(t *testing.T) {
	h := open(t)
	ann := agent("ann")
	x := h.remember(ann, knowledge.RememberInput{Title: "plan", Text: "one", Scope: memory.Workspace})
	ref := knowledge.MemoryInput{ID: x.ID, Version: x.Version, Digest: x.Digest}
	if got := must[knowledge.Item](t)(h.read(agent("bob"), ref)); got.Status != memory.Current || got.Text != "one" || got.Digest != x.Digest {
		t.Errorf("%+v", got)
	}
	two := must[knowledge.Item](t)(h.base.Revise(t.Context(), ann, knowledge.ReviseInput{ID: x.ID, Title: "plan", Text: "two", Expect: 1}))
	if got := must[knowledge.Item](t)(h.read(agent("bob"), ref)); got.Status != memory.Changed || got.Text != "two" || got.Version != 2 || got.Digest != two.Digest {
		t.Errorf("%+v", got)
	}
	if got := must[knowledge.Item](t)(h.read(agent("bob"), knowledge.MemoryInput{ID: x.ID, Version: 1})); got.Status != memory.Changed || got.Text != "one" {
		t.Errorf("the first version: %+v", got)
	}
	if got := must[knowledge.Item](t)(h.read(agent("bob"), knowledge.MemoryInput{ID: x.ID})); got.Status != memory.Current || got.Text != "two" {
		t.Errorf("the item: %+v", got)
	}
	_, err := h.base.Revise(t.Context(), ann, knowledge.ReviseInput{ID: x.ID, Text: "three", Expect: 1})
	refused(t, "what is not the newest", err, refusal.Conflict)
	vs := must[knowledge.Versions](t)(h.base.MemoryVersions(t.Context(), agent("bob"), knowledge.VersionsInput{ID: x.ID, Limit: 1}))
	if vs.Count != 2 || len(vs.Versions) != 1 || vs.Versions[0].Text != "one" || vs.Versions[0].By != "agent/ann" {
		t.Errorf("%+v", vs)
	}
	vs = must[knowledge.Versions](t)(h.base.MemoryVersions(t.Context(), agent("bob"), knowledge.VersionsInput{ID: x.ID, After: 1}))
	if len(vs.Versions) != 1 || vs.Versions[0].Text != "two" {
		t.Errorf("%+v", vs)
	}
	for name, in := range map[string]knowledge.MemoryInput{
		"a version that is not there": {ID: x.ID, Version: 3},
		"another's digest":            {ID: x.ID, Version: 1, Digest: two.Digest},
		"an item that is not there":   {ID: "mem_0"},
	} {
		_, err := h.read(agent("bob"), in)
		refused(t, name, err, refusal.NotFound)
	}
	for name, in := range map[string]knowledge.MemoryInput{
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
	in := knowledge.RememberInput{Title: secret, Text: "the password is " + secret, Scope: memory.Workspace, Tags: []string{secret}, Pinned: true}
	x := must[knowledge.Item](t)(h.base.Remember(t.Context(), ann, in))
	again := must[knowledge.Item](t)(h.base.Remember(t.Context(), ann, in))
	if again.ID != x.ID || !again.Repeat || again.Title != secret {
		t.Errorf("repeated: %+v", again)
	}
	must[knowledge.Item](t)(h.base.Revise(t.Context(), agent("ann"), knowledge.ReviseInput{ID: x.ID, Text: "it was " + secret}))
	gone := must[knowledge.Item](t)(h.base.Forget(t.Context(), agent("ann"), x.ID))
	again = must[knowledge.Item](t)(h.base.Remember(t.Context(), ann, in))
	h.settle()
	answers := []any{gone, again}
	for _, by := range []caller.Caller{agent("ann"), agent("bob"), operator, auditor} {
		for _, in := range []knowledge.MemoryInput{{ID: x.ID}, {ID: x.ID, Version: 1}, {ID: x.ID, Version: 1, Digest: x.Digest}} {
			got := must[knowledge.Item](t)(h.read(by, in))
			if got.Status != memory.Forgotten || got.Forgotten.IsZero() || got.Digest != "" {
				t.Errorf("%+v gives %+v", in, got)
			}
			answers = append(answers, got)
		}
		_, err := h.base.MemoryVersions(t.Context(), by, knowledge.VersionsInput{ID: x.ID})
		refused(t, "its versions", err, refusal.NotFound)
		for _, in := range []knowledge.SearchInput{{}, {Text: secret}, {Tag: secret}, {Pinned: true}, {Agent: "ann"}} {
			h.wantFound(by, in)
		}
	}
	for _, a := range answers {
		if strings.Contains(fmt.Sprintf("%+v", a), secret) {
			t.Errorf("it is in %+v", a)
		}
	}
	_, err := h.base.Revise(t.Context(), agent("ann"), knowledge.ReviseInput{ID: x.ID, Text: "again"})
	refused(t, "revise what is forgotten", err, refusal.Conflict)
}

func TestWhatIsStoredUnderOneKeyIsStoredOnce(t *testing.T) {
	h := open(t)
	in := knowledge.RememberInput{Text: "one"}
	first := must[knowledge.Item](t)(h.base.Remember(t.Context(), agent("ann").WithKey("k"), in))
	h.restart()
	again := must[knowledge.Item](t)(h.base.Remember(t.Context(), agent("ann").WithKey("k"), in))
	other := must[knowledge.Item](t)(h.base.Remember(t.Context(), agent("bob").WithKey("k"), in))
	if again.ID != first.ID || !again.Repeat || other.ID == first.ID || other.Repeat {
		t.Errorf("%+v, %+v, %+v", first, again, other)
	}
	_, err := h.base.Remember(t.Context(), agent("ann").WithKey("k"), knowledge.RememberInput{Text: "two"})
	refused(t, "another under the same key", err, refusal.Conflict)
	revise := knowledge.ReviseInput{ID: first.ID, Text: "new"}
	a := must[knowledge.Item](t)(h.base.Revise(t.Context(), agent("ann").WithKey("r"), revise))
	must[knowledge.Item](t)(h.base.Revise(t.Context(), agent("ann"), knowledge.ReviseInput{ID: first.ID, Text: "newer"}))
	b := must[knowledge.Item](t)(h.base.Revise(t.Context(), agent("ann").WithKey("r"), revise))
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
		x := h.remember(ann, knowledge.RememberInput{Text: fmt.Sprintf("note %d about apples", n), Scope: memory.Workspace, Tags: []string{"fruit"}})
		ids = append([]string{x.ID}, ids...)
	}
	in := h.remember(ann, knowledge.RememberInput{Text: strings.Repeat("padding ", 200) + "the Apple falls not far " + strings.Repeat("padding ", 200), Scope: memory.Task, Task: task, Conversation: "c"})
	h.settle()
	page := must[knowledge.FoundItems](t)(h.base.SearchMemory(t.Context(), ann, knowledge.SearchInput{Tag: "fruit", Limit: 3}))
	if len(page.Items) != 3 || page.Next == 0 {
		t.Fatalf("%+v", page)
	}
	rest := must[knowledge.FoundItems](t)(h.base.SearchMemory(t.Context(), ann, knowledge.SearchInput{Tag: "fruit", Limit: 3, After: page.Next}))
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
	found := must[knowledge.FoundItems](t)(h.base.SearchMemory(t.Context(), ann, knowledge.SearchInput{Text: "apple?", Conversation: "c"}))
	if len(found.Items) != 1 || found.Items[0].ID != in.ID || !strings.Contains(found.Items[0].Excerpt, "… ") ||
		!strings.Contains(found.Items[0].Excerpt, "Apple falls") || len(found.Items[0].Excerpt) > 320 {
		t.Errorf("%+v", found)
	}
	h.wantFound(agent("eve"), knowledge.SearchInput{Task: task})
	h.wantFound(ann, knowledge.SearchInput{Since: h.now.Add(time.Hour)})
	for name, in := range map[string]knowledge.SearchInput{
		"a page of what is ranked": {Text: "x", After: 3}, "too many": {Limit: 501}, "fewer than none": {Limit: -1}, "no tag": {Tag: "A B"}, "no task": {Task: "x"},
		"no conversation": {Conversation: "../x"}, "no scope": {Scope: "world"}, "a time that is none": {Since: h.now, Until: h.now},
	} {
		_, err := h.base.SearchMemory(t.Context(), ann, in)
		refused(t, name, err, refusal.Invalid)
	}
	_, err := h.base.SearchMemory(t.Context(), ann, knowledge.SearchInput{Text: strings.Repeat("x", 2001)})
	refused(t, "too long", err, refusal.TooLarge)
}

func TestAnItemBelongsToNoTaskThatIsNoneOfItsAuthorsBusiness(t *testing.T) {
	h := open(t)
	task := h.task(1, "lead", owned("coder"))
	_, err := h.base.Remember(t.Context(), agent("stranger"), knowledge.RememberInput{Text: "poison", Scope: memory.Task, Task: task})
	refused(t, "a stranger's item", err, refusal.NotFound)
	_, err = h.base.Remember(t.Context(), agent("coder"), knowledge.RememberInput{Text: "x", Scope: memory.Task})
	refused(t, "no task", err, refusal.Invalid)
	h.remember(operator, knowledge.RememberInput{Text: "from above", Scope: memory.Task, Task: task})
	if got := h.finds(agent("coder"), knowledge.SearchInput{}); len(got) != 1 {
		t.Errorf("coder finds %q", got)
	}
}

func TestWhatIsReadIsOnRecordBeforeItIsAnswered(t *testing.T) {
	h := open(t)
	task := h.task(1, "lead", owned("coder"))
	x := h.remember(agent("coder"), knowledge.RememberInput{Text: "ours", Scope: memory.Task, Task: task})
	y := h.remember(agent("coder"), knowledge.RememberInput{Text: "all", Scope: memory.Workspace})
	lead := agent("lead")
	must[knowledge.Item](t)(h.read(lead, knowledge.MemoryInput{ID: x.ID}))
	h.finds(lead, knowledge.SearchInput{})
	h.finds(lead, knowledge.SearchInput{Text: "nothing"})
	must[knowledge.Versions](t)(h.base.MemoryVersions(t.Context(), lead, knowledge.VersionsInput{ID: x.ID}))
	h.say(lead, knowledge.AppendTurnInput{Conversation: "c", Text: "hi"})
	must[knowledge.Conversation](t)(h.base.Conversation(t.Context(), lead, knowledge.ConversationInput{ID: "c"}))
	must[knowledge.Continuity](t)(h.base.Continuity(t.Context(), lead, knowledge.ContinuityInput{ID: "c"}))
	want := []string{
		task + " memory " + x.ID + " version 1", "memory search " + y.ID + "@1," + x.ID + "@1", task + " versions of memory " + x.ID + " 1",
		"conversation c", "continuity of c",
	}
	if got := h.reads(lead); !slices.Equal(got, want) {
		t.Errorf("on record: %q\nwant %q", got, want)
	}
	if _, err := h.read(agent("eve"), knowledge.MemoryInput{ID: x.ID}); err == nil || len(h.reads(agent("eve"))) > 0 {
		t.Errorf("eve: %v, %q", err, h.reads(agent("eve")))
	}
}
