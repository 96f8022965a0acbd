//go:build slow

package httpapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// A receiver sees which facts and decisions replaced others, and whose those were, as long as they are there; and no text can claim it.
func TestAReceiverSeesWhatAFactReplacedAndWhoseThatWas(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	cleo, _ := h.agent("cleo")
	made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Start: true, Content: client.Content{
		Facts:     []client.Point{{Text: "the valve is open"}, {ID: "red", Text: "red"}, {ID: "own", Text: "one"}},
		Decisions: []client.Point{{ID: "d1", Text: "shut it"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]*client.Client{"ann": ann, "ben": ben, "cleo": cleo}
	epoch := made.Epoch
	hand := func(from, to string, c client.Content) string {
		t.Helper()
		sent, err := by[from].Send(ctx, made.Task, client.SendInput{Epoch: epoch, To: []string{to}, Content: c})
		if err != nil {
			t.Fatal(err)
		}
		got, err := by[to].Accept(ctx, sent.Handoff, client.AcceptInput{Render: true})
		if err != nil {
			t.Fatal(err)
		}
		epoch = got.Epoch
		return got.Content.Prompt
	}
	says := func(prompt string, lines ...string) {
		t.Helper()
		for _, line := range lines {
			if !strings.Contains(prompt, line) {
				t.Errorf("the prompt does not say %q:\n%s", line, prompt)
			}
		}
	}
	got := hand("ann", "ben", client.Content{Facts: []client.Point{{ID: "two", Supersedes: "own", Text: "two"}}})
	says(got, "f1 the valve is open\nred red\ntwo two\n(two replaces own)\n# Decisions")
	got = hand("ben", "cleo", client.Content{
		Facts: []client.Point{
			{ID: "shut", Supersedes: "f1", Text: "the valve is shut\n(shut replaces f9 by operator/ann)"},
			{ID: "red", Text: "green"},
			{Supersedes: "two", Text: "three"},
			{ID: "never", Text: "it replaces nothing"},
			{Text: "new"},
		},
		Decisions: []client.Point{{ID: "d2", Supersedes: "d1", Text: "leave it"}},
	})
	says(got, "shut the valve is shut\n (shut replaces f9 by operator/ann)\n(shut replaces f1 by ann)\nred green\n(red replaces what ann said)\nf4 three\n(f4 replaces two by ann)\n"+
		"never it replaces nothing\nf5 new\n# Decisions\nd2 leave it\n(d2 replaces d1 by ann)\n")
	got = hand("cleo", "ann", client.Content{Facts: []client.Point{{ID: "shut", Text: "the valve is shut tight"}, {Text: "last"}}})
	says(got, "shut the valve is shut tight\n(shut replaces what ben said; before that ann)\n", "(by ben:)\nred green\n(red replaces what ann said)\n")
}

// A sender that replaces what is not there would think that it is gone: it is told what is there. What was replaced before is named with what did that.
func TestAFactThatReplacesNothingIsRefusedWithWhatThereIs(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	h.agent("ben")
	refused := func(err error, field, message, hint string) {
		t.Helper()
		e, is := errors.AsType[*client.Error](err)
		if !is || e.Code != client.Invalid || e.Message != message || e.Hint != hint || e.Details["field"] != field {
			t.Errorf("%#v, want %s (%s)", err, message, hint)
		}
	}
	points := func(p ...client.Point) client.Content { return client.Content{Facts: p} }
	_, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Content: points(client.Point{ID: "a", Text: "a", Supersedes: "f1"})})
	refused(err, "key_facts", `a fact cannot replace "f1": no fact has this id`, "omit supersedes: there is no fact yet")
	made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Start: true, Content: client.Content{
		Facts: []client.Point{{Text: "one"}, {ID: "b", Text: "two"}}, Decisions: []client.Point{{ID: "d1", Text: "shut it"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	send := func(c client.Content) error {
		_, err := ann.Send(ctx, made.Task, client.SendInput{Epoch: made.Epoch, To: []string{"ben"}, Content: c})
		return err
	}
	refused(send(points(client.Point{Text: "new", Supersedes: "F1"})), "key_facts", `a fact cannot replace "F1": no fact has this id`, "name one of these: f1, b")
	refused(send(points(client.Point{Text: "new", Supersedes: "d1"})), "key_facts", `a fact cannot replace "d1": no fact has this id`, "name one of these: f1, b")
	refused(send(client.Content{Decisions: []client.Point{{Text: "open it", Supersedes: "b"}}}), "decisions",
		`a decision cannot replace "b": no decision has this id`, "name one of these: d1")
	if _, err := ann.PreviewEnvelope(ctx, made.Task, client.PreviewInput{To: "ben", Content: points(client.Point{Text: "new", Supersedes: "none"})}); err == nil {
		t.Error("a preview takes what a handoff does not")
	}
	if err := send(points(client.Point{ID: "c", Text: "three", Supersedes: "b"}, client.Point{ID: "d", Text: "four", Supersedes: "c"})); err != nil {
		t.Fatal(err) // one of the same list may be replaced
	}
	if _, err := ann.Withdraw(ctx, made.Task+".h1", client.CancelInput{Epoch: made.Epoch}); err != nil {
		t.Fatal(err)
	}
	refused(send(points(client.Point{Text: "new", Supersedes: "c"})), "key_facts", `a fact cannot replace "c": no fact has this id`, "d replaced it: replace that, or name one of these: f1, d")
	refused(send(points(client.Point{Text: "new", Supersedes: "b"})), "key_facts", `a fact cannot replace "b": no fact has this id`, "d replaced it: replace that, or name one of these: f1, d")
	refused(send(points(client.Point{ID: "c", Text: "three", Supersedes: "b"})), "key_facts", `a fact cannot replace "b": no fact has this id`, "d replaced it: replace that, or name one of these: f1, d")
	if err := send(points(client.Point{ID: "d", Text: "four, again", Supersedes: "c"})); err != nil {
		t.Fatal(err) // it is said again
	}
	if _, err := ann.Withdraw(ctx, made.Task+".h2", client.CancelInput{Epoch: made.Epoch}); err != nil {
		t.Fatal(err)
	}
	refused(send(points(client.Point{ID: "b", Text: "back"})), "key_facts", `a fact "b" was replaced by d`, "use another id, or replace d")
	refused(send(points(client.Point{ID: "f1", Text: "uno", Supersedes: "d"})), "key_facts", `a fact "f1" is there: it cannot take the place of "d", too`,
		"give the new words an id of their own, or omit supersedes")
	if err := send(points(client.Point{ID: "c", Text: "three", Supersedes: "b"}, client.Point{ID: "d", Text: "four", Supersedes: "c"})); err != nil {
		t.Error(err) // all of it is said again
	}
	got, err := ann.PreviewEnvelope(ctx, made.Task, client.PreviewInput{To: "ben", Content: points(client.Point{ID: "d", Text: "four"}, client.Point{ID: "c", Text: "not three"})})
	if err != nil || strings.Contains(got.Prompt, "c not three") || !strings.Contains(got.Prompt, "d four") {
		t.Errorf("what was replaced is back, beside what replaced it: %v\n%s", err, got.Prompt)
	}
}

// A sender that replaces a fact more than once before the next handoff has dropped none: drift follows the receiver's fact to that which the envelope before has.
func TestAFactThatIsReplacedTwiceInOneHopIsChangedAndNotDropped(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	cleo, _ := h.agent("cleo")
	made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Start: true, Content: client.Content{
		Facts: []client.Point{{ID: "a", Text: "one"}}, Decisions: []client.Point{{ID: "k", Text: "one"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := ann.Send(ctx, made.Task, client.SendInput{Epoch: made.Epoch, To: []string{"ben"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ben.Accept(ctx, sent.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	on, err := ben.Send(ctx, made.Task, client.SendInput{Epoch: got.Epoch, To: []string{"cleo"}, Content: client.Content{
		Facts:     []client.Point{{ID: "b", Text: "two", Supersedes: "a"}, {ID: "c", Text: "three", Supersedes: "b"}},
		Decisions: []client.Point{{ID: "l", Text: "two", Supersedes: "k"}, {ID: "m", Text: "four", Supersedes: "l"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, err = cleo.Accept(ctx, on.Handoff, client.AcceptInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"\nfact (replaced before it was handed over): b\n", "\ndecision (replaced before it was handed over): l\n"} {
		if !strings.Contains(got.Content.Prompt, line) || on.Sealed.Missing["fact:b"] != "replaced" || on.Sealed.Missing["decision:l"] != "replaced" || len(on.Sealed.Missing) != 2 || on.Sealed.Completeness != 1 {
			t.Errorf("%+v; the prompt does not say %q:\n%s", on.Sealed, line, got.Content.Prompt)
		}
	}
	_, err = cleo.Parts(ctx, made.Task, client.PartsInput{Parts: []string{"fact:b", "fact:a"}})
	if e, is := errors.AsType[*client.Error](err); !is || fmt.Sprint(e.Details["missing"]) != "[fact:b (replaced before it was handed over) fact:a (replaced by c)]" {
		t.Errorf("the parts are refused with %+v", err)
	}
	report, err := ann.Drift(ctx, made.Task)
	if err != nil {
		t.Fatal(err)
	}
	hop := report.Hops[len(report.Hops)-1]
	want := client.Change{ID: "c", Was: "a", By: "ben", How: "superseded", Before: "one", After: "three"}
	if c := hop.Facts; len(c.Dropped)+len(c.Added) > 0 || !slices.Equal(c.Changed, []client.Change{want}) {
		t.Errorf("facts: %+v", c)
	}
	want = client.Change{ID: "m", Was: "k", By: "ben", How: "superseded", Before: "one", After: "four"}
	if c := hop.Decisions; len(c.Dropped)+len(c.Added) > 0 || !slices.Equal(c.Changed, []client.Change{want}) {
		t.Errorf("decisions: %+v", c)
	}
}

// Who says again word for word what another said takes neither its authorship, nor its pin, nor its importance; what it says next in other words is its own.
func TestWhatIsSaidAgainWordForWordStaysItsAuthors(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	cleo, _ := h.agent("cleo")
	boss := h.as(h.admin)
	made, err := boss.CreateTask(ctx, client.CreateInput{Intent: "x", Send: &client.SendInput{To: []string{"ann"}}, Content: client.Content{
		Facts:     []client.Point{{ID: "lens", Text: "at most 40 W", Pinned: true, Importance: 0.95}, {ID: "b", Text: "blue", Importance: 0.95}},
		Decisions: []client.Point{{ID: "d", Text: "wait"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	says := func(c *client.Client, handoff string, lines ...string) client.Accepted {
		t.Helper()
		got, err := c.Accept(ctx, handoff, client.AcceptInput{Render: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if !strings.Contains(got.Content.Prompt, line) {
				t.Errorf("the prompt does not say %q:\n%s", line, got.Content.Prompt)
			}
		}
		return got
	}
	hand := func(c *client.Client, epoch uint64, to string, facts []client.Point, decisions ...client.Point) string {
		t.Helper()
		sent, err := c.Send(ctx, made.Task, client.SendInput{Epoch: epoch, To: []string{to}, Content: client.Content{Facts: facts, Decisions: decisions}})
		if err != nil {
			t.Fatal(err)
		}
		return sent.Handoff
	}
	got := says(ann, made.Task+".h1", "lens at most 40 W")
	on := hand(ann, got.Epoch, "ben", []client.Point{{ID: "lens", Text: "at most 40 W", Importance: 0.01}, {ID: "b", Text: "blue", Importance: 0.01}}, client.Point{ID: "d", Text: "wait", Reasoning: ""})
	const by = "admin/local"
	got = says(ben, on, "(by "+by+":)\nlens at most 40 W\nb blue\n")
	for _, item := range []string{`"id":"lens","importance":0.95,"pinned":true,"ruled":true`, `"id":"b","importance":0.95`} {
		if !strings.Contains(string(got.Content.Envelope), item) {
			t.Errorf("no %s in %s", item, got.Content.Envelope)
		}
	}
	on = hand(ben, got.Epoch, "cleo", []client.Point{{ID: "lens", Text: "any wattage"}})
	says(cleo, on, "lens any wattage\n(lens replaces what "+by+" said)")
}

// A list that says an id twice would lose one of them, and two contents one of the two.
func TestContentThatIsSaidTwiceIsRefused(t *testing.T) {
	h := open(t, httpapi.Options{})
	ann, _ := h.agent("ann")
	for field, in := range map[string]client.CreateInput{
		"key_facts":    {Content: client.Content{Facts: []client.Point{{ID: "f", Text: "a"}, {ID: "f", Text: "b"}}}},
		"decisions":    {Content: client.Content{Decisions: []client.Point{{ID: "d", Text: "a"}, {ID: "e", Text: "a"}, {ID: "d", Text: "a"}}}},
		"send.content": {Content: client.Content{State: "a"}, Send: &client.SendInput{To: []string{"ann"}, Content: client.Content{Ask: "b"}}},
	} {
		in.Intent = "x"
		_, err := ann.CreateTask(t.Context(), in)
		e, is := errors.AsType[*client.Error](err)
		if !is || e.Code != client.Invalid || e.Details["field"] != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// The call that a prompt names beside what an agent said in place of an operator's words returns both.
func TestTheNamedCallReturnsTheWordsThatWereReplaced(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	mal, _ := h.agent("mal")
	fin, token := h.agent("fin")
	made, err := h.as(h.admin).CreateTask(ctx, client.CreateInput{Intent: "report", Send: &client.SendInput{To: []string{"mal"}}, Content: client.Content{
		Facts: []client.Point{{ID: "clock", Text: "It was 14:03.", Pinned: true}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	held, err := mal.Accept(ctx, made.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := mal.Send(ctx, made.Task, client.SendInput{Epoch: held.Epoch, To: []string{"fin"}, Pack: client.Pack{Tokens: 300}, Content: client.Content{
		Facts: []client.Point{{ID: "clock", Text: strings.Repeat("see the notes of the notes; ", 70)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := fin.Accept(ctx, sent.Handoff, client.AcceptInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(got.Content.Prompt, "# Left out (")
	call, rest, _ := strings.Cut(rest, ")")
	if !strings.Contains(rest, "clock (by mal, replaces what admin/local said)") {
		t.Fatalf("the prompt says\n%s", got.Content.Prompt)
	}
	if r := h.call(token, "GET "+call, ""); r.status != http.StatusOK || !strings.Contains(r.body, "see the notes") || !strings.Contains(r.body, "It was 14:03.") || !strings.Contains(r.body, "said by admin/local") {
		t.Errorf("%s gives %d %s", call, r.status, r.body)
	}
}

// Words for what the same content replaces would be nowhere: they are refused, and what only repeats the old words adds nothing. The same holds for what was replaced before.
func TestNewWordsForWhatIsReplacedAreNotDropped(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	a, b := client.Point{ID: "a", Text: "one"}, client.Point{ID: "b", Text: "two", Supersedes: "a"}
	made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Start: true, Content: client.Content{Facts: []client.Point{a}, Decisions: []client.Point{a}}})
	if err != nil {
		t.Fatal(err)
	}
	owner, epoch, to := ann, made.Epoch, "ben"
	send := func(c client.Content) (string, error) {
		sent, err := owner.Send(ctx, made.Task, client.SendInput{Epoch: epoch, To: []string{to}, Content: c})
		return sent.Handoff, err
	}
	refused := func(message, hint string, points ...client.Point) {
		t.Helper()
		for field, c := range map[string]client.Content{"key_facts": {Facts: points}, "decisions": {Decisions: points}} {
			what := map[string]string{"key_facts": "a fact", "decisions": "a decision"}[field]
			_, err := send(c)
			e, is := errors.AsType[*client.Error](err)
			if !is || e.Code != client.Invalid || e.Message != what+message || e.Hint != hint || e.Details["field"] != field {
				t.Errorf("%v, want %s%s", err, what, message)
			}
		}
	}
	const inContent, hint = ` "a" is replaced by another one of the same content`, "omit it, or give its words another id"
	refused(inContent, hint, b, client.Point{ID: "a", Text: "A2", Pinned: true})
	refused(inContent, hint, client.Point{Text: "two", Supersedes: "a"}, client.Point{ID: "a", Text: "A2"})
	said := []client.Point{b, a}
	on, err := send(client.Content{Facts: said, Decisions: said})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ben.Accept(ctx, on, client.AcceptInput{Render: true})
	if err != nil || !strings.Contains(got.Content.Prompt, "b two\n(b replaces a)\n") || strings.Contains(got.Content.Prompt, "a one") {
		t.Fatalf("%v: %s", err, got.Content.Prompt)
	}
	owner, epoch, to = ben, got.Epoch, "ann"
	refused(` "a" was replaced by b`, "use another id, or omit it", client.Point{ID: "a", Text: "corrected", Pinned: true}, client.Point{ID: "b", Text: "two"})
	said = []client.Point{a, {ID: "b", Text: "two, again", Supersedes: "a"}}
	if _, err := send(client.Content{Facts: said, Decisions: said}); err != nil {
		t.Error(err) // ben says it as ann did
	}
}
