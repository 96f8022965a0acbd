package httpapi_test

import (
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
			{ID: "never", Supersedes: "lang", Text: "no such fact was there"},
			{Text: "new"},
		},
		Decisions: []client.Point{{ID: "d2", Supersedes: "d1", Text: "leave it"}},
	})
	says(got, "shut the valve is shut\n (shut replaces f9 by operator/ann)\n(shut replaces f1 by ann)\nred green\n(red replaces what ann said)\nf4 three\n(f4 replaces two by ann)\n"+
		"never no such fact was there\nf5 new\n# Decisions\nd2 leave it\n(d2 replaces d1 by ann)\n")
	got = hand("cleo", "ann", client.Content{Facts: []client.Point{{ID: "shut", Text: "the valve is shut tight"}, {Text: "last"}}})
	says(got, "shut the valve is shut tight\n(shut replaces what ben said)\n", "(by ben)\nred green\n(red replaces what ann said)\n")
}
