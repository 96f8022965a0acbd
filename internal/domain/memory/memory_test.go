package memory_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/ruletest"
)

const (
	salt  = "00112233445566778899aabbccddeeff"
	task  = "task_00000000000000000000000001"
	other = "task_00000000000000000000000002"
)

var (
	noon     = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	writer   = memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "writer"}, Tasks: []string{task}}
	reviewer = memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "reviewer"}}
	holder   = memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "reviewer"}, Tasks: []string{other, task}}
	auditor  = memory.Reader{Principal: identity.Principal{Role: identity.Auditor, Name: "ann"}}
	operator = memory.Reader{Principal: identity.Principal{Role: identity.Operator, Name: "olga"}}
)

func content(text string) memory.Content {
	return memory.Content{Title: "note", Text: text, Salt: salt}
}

// refer is the reference to an item's newest version, as it is sealed into an envelope.
func refer(s memory.State) memory.Reference {
	v := s.Latest()
	return memory.Reference{ID: s.ID, Version: v.Number, Digest: v.Digest}
}

// item is one item's stream in a test.
type item struct {
	*ruletest.Stream[memory.State, memory.Command, memory.Event]
}

// absentItem is an item that does not exist yet.
func absentItem(t *testing.T) *item {
	return &item{&ruletest.Stream[memory.State, memory.Command, memory.Event]{TB: t, Decide: memory.Decide, Fold: memory.Fold, Now: noon}}
}

func newItem(t *testing.T, scope memory.Scope) *item {
	i := absentItem(t)
	i.do(memory.Remember{
		By: writer, ID: "m1", Scope: scope, Task: task, Conversation: "c1", Tags: []string{"go", "db", "go"},
		Importance: 0.5, Content: content("use region and month as the key"),
	}, "memory-stored")
	return i
}

// do gives a command a minute later, which must yield exactly the events of these names.
func (i *item) do(c memory.Command, want ...string) {
	i.Helper()
	i.Now = i.Now.Add(time.Minute)
	i.Do(c, want...)
}

func TestAnItemKeepsItsVersionsAndALazyReferenceYieldsTheLatest(t *testing.T) {
	i := newItem(t, memory.Private)
	ref := refer(i.State)
	if v, status := memory.Resolve(i.State, ref); status != memory.Current || v.Number != 1 {
		t.Fatalf("at first: %s, version %d", status, v.Number)
	}
	i.do(memory.Revise{By: writer, ID: "m1", Content: content("use region alone")}, "memory-revised")
	v, status := memory.Resolve(i.State, ref)
	if status != memory.Changed || v.Number != 2 || v.Text != "use region alone" {
		t.Errorf("after a revision: %s, %+v", status, v)
	}
	if first, ok := i.State.Version(1); !ok || first.Text != "use region and month as the key" || first.Digest != ref.Digest {
		t.Errorf("version 1 is %+v", first)
	}
	if v, status := memory.Resolve(i.State, memory.Reference{ID: "m1"}); status != memory.Current || v.Number != 2 {
		t.Errorf("a reference to whatever is newest: %s, version %d", status, v.Number)
	}
}

func TestStoringTwiceTheSameChangesNothingAndAnotherUnderTheSameIDIsRefused(t *testing.T) {
	i := newItem(t, memory.Private)
	again := memory.Remember{
		By: writer, ID: "m1", Scope: memory.Private, Task: task, Conversation: "c1", Tags: []string{"db", "go"},
		Importance: 0.5, Content: memory.Content{Title: "note", Text: "use region and month as the key", Salt: strings.Repeat("0", 32)},
	}
	i.do(again) // also with another salt: a repeated call draws a new one
	i.do(memory.Revise{By: writer, ID: "m1", Content: content("new")}, "memory-revised")
	i.do(again)
	for name, change := range map[string]func(*memory.Remember){
		"another author": func(s *memory.Remember) { s.By = operator },
		"another text":   func(s *memory.Remember) { s.Content.Text = "else" },
		"another title":  func(s *memory.Remember) { s.Content.Title = "else" },
		"another scope":  func(s *memory.Remember) { s.Scope = memory.Workspace },
		"another task":   func(s *memory.Remember) { s.Task = "" },
		"another talk":   func(s *memory.Remember) { s.Conversation = "c2" },
		"another source": func(s *memory.Remember) { s.Source.Agent = "scout" },
	} {
		t.Run(name, func(t *testing.T) {
			c := again
			change(&c)
			i.TB = t
			i.Refused(c, refusal.Conflict)
		})
	}
}

func TestWhoMayReadAnItem(t *testing.T) {
	for _, c := range []struct {
		scope memory.Scope
		who   string
		r     memory.Reader
		want  bool
	}{
		{memory.Private, "its author", writer, true},
		{memory.Private, "another agent", reviewer, false},
		{memory.Private, "a holder of its task", holder, false},
		{memory.Private, "an auditor", auditor, true},
		{memory.Private, "an operator", operator, true},
		{memory.Task, "its author, who has left the task", memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "writer"}}, true},
		{memory.Task, "a holder of its task", holder, true},
		{memory.Task, "a holder of another task", memory.Reader{Principal: identity.Principal{Role: identity.Agent, Name: "x"}, Tasks: []string{other}}, false},
		{memory.Task, "an auditor", auditor, true},
		{memory.Workspace, "another agent", reviewer, true},
		{memory.Workspace, "nobody", memory.Reader{}, false},
	} {
		t.Run(string(c.scope)+" "+c.who, func(t *testing.T) {
			if got := memory.MayRead(newItem(t, c.scope).State, c.r); got != c.want {
				t.Errorf("may read: %v", got)
			}
		})
	}
}

func TestAnEnvelopeGrantsExactlyTheVersionsThatItRefersTo(t *testing.T) {
	i := newItem(t, memory.Private)
	ref := refer(i.State)
	i.do(memory.Revise{By: writer, ID: "m1", Content: content("a secret of its author")}, "memory-revised")

	r := reviewer
	if v, status := memory.Fetch(i.State, r, ref); status != memory.Missing || v != (memory.Version{}) {
		t.Fatalf("without the envelope: %s, %+v", status, v)
	}
	r.Granted = []memory.Reference{ref}
	v, status := memory.Fetch(i.State, r, ref)
	if status != memory.Changed || v.Number != 1 || v.Text != "use region and month as the key" {
		t.Errorf("with it: %s, %+v", status, v)
	}
	if memory.MayRead(i.State, r) || memory.MayReadVersion(i.State, r, 2) {
		t.Error("the envelope opens more than the version it was sealed with")
	}
	if v, status := memory.Fetch(i.State, r, refer(i.State)); status != memory.Missing || v.Text != "" {
		t.Errorf("the newer version: %s, %+v", status, v)
	}
	if v, status := memory.Fetch(i.State, r, memory.Reference{ID: "m1"}); status != memory.Missing || v.Text != "" {
		t.Errorf("whatever is newest: %s, %+v", status, v)
	}
	if v, _ := memory.Fetch(i.State, writer, ref); v.Number != 2 {
		t.Errorf("the author gets version %d by an old reference, want the latest", v.Number)
	}
	for _, forged := range []memory.Reference{
		{ID: "m1", Version: 2, Digest: ref.Digest},
		{ID: "m1", Version: 2},
		{ID: "m1"},
		{ID: "m2", Version: 1, Digest: ref.Digest},
	} {
		r.Granted = []memory.Reference{forged}
		if memory.MayReadVersion(i.State, r, 1) || memory.MayReadVersion(i.State, r, 2) || memory.MayReadVersion(i.State, r, 0) {
			t.Errorf("%+v opens something", forged)
		}
	}
}

func TestAForgottenItemGivesOutNothing(t *testing.T) {
	i := newItem(t, memory.Workspace)
	ref := refer(i.State)
	before := i.State
	i.do(memory.Forget{By: writer, ID: "m1"}, "memory-forgotten")
	i.do(memory.Forget{By: writer, ID: "m1"})
	if text := printed(i.State); strings.Contains(text, "region") || strings.Contains(text, "note") || strings.Contains(text, salt) || i.State.Has("db") {
		t.Errorf("still there: %s", text)
	}
	if v, _ := before.Version(1); v.Text == "" {
		t.Error("forgetting changed an older state")
	}
	r := reviewer
	r.Granted = []memory.Reference{ref}
	for _, r := range []memory.Reader{writer, operator, r} {
		if v, status := memory.Fetch(i.State, r, ref); status != memory.Forgotten || v != (memory.Version{}) {
			t.Errorf("%s gets %s, %+v", r.Principal, status, v)
		}
	}
	if i.State.Latest().Digest != ref.Digest {
		t.Error("the digest is gone: an audit could not tell any more what was sealed")
	}
	for _, c := range []memory.Command{
		memory.Revise{By: writer, ID: "m1", Content: content("again")},
		memory.Pin{By: writer, ID: "m1"},
		memory.Unpin{By: writer, ID: "m1"},
		memory.Tag{By: writer, ID: "m1"},
		memory.Weigh{By: writer, ID: "m1", Importance: 1},
		memory.Remember{By: writer, ID: "m1", Scope: memory.Workspace, Content: content("again")},
	} {
		i.Refused(c, refusal.Conflict)
	}
}

func TestReferencesThatLeadNowhereAreMissing(t *testing.T) {
	i := newItem(t, memory.Workspace)
	ref := refer(i.State)
	for _, r := range []memory.Reference{
		{ID: "m2", Version: 1, Digest: ref.Digest},
		{ID: "m1", Version: 2, Digest: ref.Digest},
		{ID: "m1", Version: -1, Digest: ref.Digest},
		{ID: "m1", Version: 1, Digest: memory.DigestOf(salt, "", "else")},
		{ID: "m1", Version: 1},
		{ID: "m1", Digest: ref.Digest},
	} {
		if _, status := memory.Resolve(i.State, r); status != memory.Missing {
			t.Errorf("%+v is %s", r, status)
		}
	}
	if _, status := memory.Resolve(memory.State{}, memory.Reference{}); status != memory.Missing {
		t.Errorf("of nothing: %s", status)
	}
}

func TestOnlyTheAuthorAndOperatorsChangeAnItem(t *testing.T) {
	for _, c := range []func(memory.Reader) memory.Command{
		func(r memory.Reader) memory.Command { return memory.Revise{By: r, ID: "m1", Content: content("x")} },
		func(r memory.Reader) memory.Command { return memory.Pin{By: r, ID: "m1"} },
		func(r memory.Reader) memory.Command { return memory.Unpin{By: r, ID: "m1"} },
		func(r memory.Reader) memory.Command { return memory.Tag{By: r, ID: "m1", Tags: []string{"x"}} },
		func(r memory.Reader) memory.Command { return memory.Weigh{By: r, ID: "m1", Importance: 1} },
		func(r memory.Reader) memory.Command { return memory.Forget{By: r, ID: "m1"} },
	} {
		i := newItem(t, memory.Private)
		hidden := i.Refused(c(reviewer), refusal.NotFound)
		i.Refused(c(auditor), refusal.NotPermitted)
		i.Refused(c(memory.Reader{}), refusal.Unauthenticated)
		nothing := absentItem(t)
		if absent := nothing.Refused(c(reviewer), refusal.NotFound); absent.Error() != hidden.Error() {
			t.Errorf("who may not read learns that there is something: %q, %q", hidden, absent)
		}
		if refused := newItem(t, memory.Workspace).Refused(c(reviewer), refusal.NotPermitted); !strings.Contains(refused.Error(), "author writer may") {
			t.Errorf("the author is named otherwise than in answers: %q", refused)
		}
		if _, err := memory.Decide(i.State, c(operator), noon); err != nil {
			t.Errorf("an operator: %v", err)
		}
	}
}

func TestPinningTaggingAndWeighingChangeWhatTheySayAndNothingTwice(t *testing.T) {
	i := newItem(t, memory.Private)
	i.do(memory.Pin{By: writer, ID: "m1"}, "memory-pinned")
	i.do(memory.Pin{By: writer, ID: "m1"})
	i.do(memory.Tag{By: writer, ID: "m1", Tags: []string{"db", "go", "db"}})
	i.do(memory.Tag{By: writer, ID: "m1", Tags: []string{"plan"}}, "memory-tagged")
	i.do(memory.Weigh{By: operator, ID: "m1", Importance: 0.5})
	i.do(memory.Weigh{By: operator, ID: "m1", Importance: 1}, "memory-weighed")
	if s := i.State; !s.Pinned || !s.Has("plan") || s.Has("db") || s.Importance != 1 || !s.UpdatedAt.Equal(i.Now) || len(s.Versions) != 1 {
		t.Errorf("%+v", s)
	}
	i.do(memory.Unpin{By: writer, ID: "m1"}, "memory-unpinned")
	i.do(memory.Unpin{By: writer, ID: "m1"})
	i.do(memory.Tag{By: writer, ID: "m1"}, "memory-tagged")
	i.do(memory.Tag{By: writer, ID: "m1"})
	if i.State.Pinned || i.State.Tags != nil {
		t.Errorf("%+v", i.State)
	}
}

func TestAnAgentsPinForTheWorkspaceCountsOnceAnOperatorAgrees(t *testing.T) {
	i := newItem(t, memory.Workspace)
	is := func(want memory.Pinning, by string) {
		t.Helper()
		if i.State.Pinning() != want || i.State.PinnedBy != by {
			t.Errorf("pinning %d by %q, want %d by %q", i.State.Pinning(), i.State.PinnedBy, want, by)
		}
	}
	is(memory.NotPinned, "")
	i.do(memory.Pin{By: writer, ID: "m1"}, "memory-pinned")
	i.do(memory.Pin{By: writer, ID: "m1"})
	is(memory.ProposedPin, writer.String())
	i.do(memory.Pin{By: operator, ID: "m1"}, "memory-pinned")
	i.do(memory.Pin{By: operator, ID: "m1"})
	i.do(memory.Pin{By: writer, ID: "m1"})
	is(memory.OperatorPin, operator.String())
	i.do(memory.Revise{By: operator, ID: "m1", Content: content("by the operator")}, "memory-revised")
	is(memory.OperatorPin, operator.String())
	i.do(memory.Revise{By: writer, ID: "m1", Content: content("what nobody agreed to")}, "memory-revised")
	is(memory.ProposedPin, writer.String())
	i.do(memory.Unpin{By: writer, ID: "m1"}, "memory-unpinned")
	is(memory.NotPinned, "")

	i = newItem(t, memory.Private)
	i.do(memory.Pin{By: writer, ID: "m1"}, "memory-pinned")
	is(memory.AgentPin, writer.String())
	i.do(memory.Pin{By: operator, ID: "m1"}, "memory-pinned")
	i.do(memory.Revise{By: writer, ID: "m1", Content: content("another")}, "memory-revised")
	is(memory.AgentPin, writer.String())
	i.do(memory.Forget{By: writer, ID: "m1"}, "memory-forgotten")
	is(memory.NotPinned, "")
}

func TestARevisionOfAnOldVersionIsRefusedUnlessItOverwritesOnPurpose(t *testing.T) {
	i := newItem(t, memory.Private)
	i.do(memory.Revise{By: writer, ID: "m1", Expect: 1, Content: content("two")}, "memory-revised")
	i.do(memory.Revise{By: writer, ID: "m1", Expect: 1, Content: content("two")}) // the same call again
	untitled := memory.Content{Text: "two", Salt: salt}
	i.do(memory.Revise{By: writer, ID: "m1", Content: untitled}) // a title that is left out is as it was: nothing changes
	if r := i.Refused(memory.Revise{By: writer, ID: "m1", Expect: 1, Content: content("three")}, refusal.Conflict); r.Details["version"] != 2 {
		t.Errorf("details %v", r.Details)
	}
	i.do(memory.Revise{By: writer, ID: "m1", Content: content("three")}, "memory-revised")
}

func TestVersionsAreBoundedInNumberAndSize(t *testing.T) {
	i := newItem(t, memory.Private)
	for len(i.State.Versions) < memory.MaxVersions {
		i.do(memory.Revise{By: writer, ID: "m1", Content: content(strings.Repeat("x", len(i.State.Versions)+1))}, "memory-revised")
	}
	i.Refused(memory.Revise{By: writer, ID: "m1", Content: content("one more")}, refusal.Limit)

	i = newItem(t, memory.Private)
	big := strings.Repeat("x", memory.MaxText-1)
	for n := range memory.MaxItem/memory.MaxText - 1 {
		i.do(memory.Revise{By: writer, ID: "m1", Content: content(big + string(rune('a'+n)))}, "memory-revised")
	}
	i.Refused(memory.Revise{By: writer, ID: "m1", Content: content(big + "!")}, refusal.Limit)
	i.do(memory.Revise{By: writer, ID: "m1", Content: content("small")}, "memory-revised")
}

func TestWhatBreaksARuleIsRefusedWithAHint(t *testing.T) {
	good := memory.Remember{By: writer, ID: "m1", Scope: memory.Task, Task: task, Content: content("x")}
	for name, c := range map[string]struct {
		code   refusal.Code
		change func(*memory.Remember)
	}{
		"10 MB of text":           {refusal.TooLarge, func(s *memory.Remember) { s.Content.Text = strings.Repeat("x", 10<<20) }},
		"one byte too much":       {refusal.TooLarge, func(s *memory.Remember) { s.Content.Text = strings.Repeat("x", memory.MaxText+1) }},
		"no text":                 {refusal.Invalid, func(s *memory.Remember) { s.Content.Text = " \n" }},
		"not UTF-8":               {refusal.Invalid, func(s *memory.Remember) { s.Content.Text = "a\xff" }},
		"a title of two lines":    {refusal.Invalid, func(s *memory.Remember) { s.Content.Title = "a\nb" }},
		"a title that turns":      {refusal.Invalid, func(s *memory.Remember) { s.Content.Title = "a\u202eb" }},
		"a long title":            {refusal.TooLarge, func(s *memory.Remember) { s.Content.Title = strings.Repeat("x", 201) }},
		"no salt":                 {refusal.Invalid, func(s *memory.Remember) { s.Content.Salt = "" }},
		"a salt that is no hex":   {refusal.Invalid, func(s *memory.Remember) { s.Content.Salt = strings.Repeat("G", 32) }},
		"an unknown scope":        {refusal.Invalid, func(s *memory.Remember) { s.Scope = "team" }},
		"scope task without task": {refusal.Invalid, func(s *memory.Remember) { s.Task = "" }},
		"somebody else's task":    {refusal.NotFound, func(s *memory.Remember) { s.Task = other }},
		"no task id":              {refusal.Invalid, func(s *memory.Remember) { s.Task = "t1" }},
		"no handoff id":           {refusal.Invalid, func(s *memory.Remember) { s.Source.Handoff = "h1" }},
		"no task id as source":    {refusal.Invalid, func(s *memory.Remember) { s.Source.Task = "../x" }},
		"no name as source":       {refusal.Invalid, func(s *memory.Remember) { s.Source.Agent = "A B" }},
		"no name of a talk":       {refusal.Invalid, func(s *memory.Remember) { s.Conversation = "../x" }},
		"an id with a path":       {refusal.Invalid, func(s *memory.Remember) { s.ID = "../m1" }},
		"importance above 1":      {refusal.Invalid, func(s *memory.Remember) { s.Importance = 1.1 }},
		"importance not a number": {refusal.Invalid, func(s *memory.Remember) { s.Importance = math.NaN() }},
		"a tag with a space":      {refusal.Invalid, func(s *memory.Remember) { s.Tags = []string{"a b"} }},
		"a hundred tags":          {refusal.Invalid, func(s *memory.Remember) { s.Tags = strings.Split(strings.Repeat("t,", 99)+"t", ",") }},
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			c.change(&bad)
			i := absentItem(t)
			if r := i.Refused(bad, c.code); r.Hint == "" {
				t.Errorf("no hint: %v", r)
			}
		})
	}
	if _, err := memory.Decide(memory.State{}, good, noon); err != nil {
		t.Errorf("the good one: %v", err)
	}
	newItem(t, memory.Private).Refused(memory.Pin{By: writer, ID: "m2"}, refusal.Invalid)
}
