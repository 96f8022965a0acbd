//go:build slow

package httpapi_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// The answer to a handoff that a limit stops names no handoff, since there is none; and what was given with it reaches whom the task is replayed to, with no more permissions than
// it was given with. A preview says beforehand that it will be stopped.
func TestAHandoffThatALimitStopsIsNamedNowhereAndItsContentIsKept(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	cleo, _ := h.agent("cleo")
	all := []string{"go on", "it is the cookie", "(by ben:)\n- mind the tests", "begun"}
	for name, story := range map[string]struct {
		send client.SendInput
		as   client.Kind // of the replay
		read []string    // of all
	}{
		"warm":         {send: client.SendInput{Kind: client.Warm}, read: all},
		"supervised":   {send: client.SendInput{Kind: client.Supervised}, read: all},
		"broadcast":    {send: client.SendInput{Kind: client.Broadcast}, read: all},
		"delegation":   {send: client.SendInput{Kind: client.Delegation}, read: all},
		"fan-out":      {send: client.SendInput{Kind: client.Broadcast, FanOut: true}, read: all},
		"cold":         {send: client.SendInput{Kind: client.Cold}, read: []string{"go on", "(by ben:)\n- mind the tests"}},
		"cold to warm": {send: client.SendInput{Kind: client.Cold}, as: client.Warm, read: []string{"go on", "(by ben:)\n- mind the tests", "begun"}},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := ann.CreateTask(ctx, client.CreateInput{
				Intent: "x", Limits: client.Limits{Hops: 1}, Permissions: []string{"read", "pay"}, Send: &client.SendInput{To: []string{"ben"}, Content: client.Content{Ask: "look", State: "begun"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			got, err := ben.Accept(ctx, made.Handoff, client.AcceptInput{})
			if err != nil {
				t.Fatal(err)
			}
			for _, to := range []string{"cleo", ""} {
				if p, err := ben.PreviewEnvelope(ctx, made.Task, client.PreviewInput{To: to}); err != nil || !strings.HasPrefix(p.Stop, "hop limit 1 reached") {
					t.Errorf("the preview says of what stops the handoff to %q: %q, %v", to, p.Stop, err)
				}
			}
			in := story.send
			in.Epoch, in.To, in.Permissions = got.Epoch, []string{"cleo"}, []string{"read"}
			in.Content = client.Content{Ask: "go on", Notes: "mind the tests", Facts: []client.Point{{Text: "it is the cookie"}}}
			r, err := ben.Send(ctx, made.Task, in)
			if err != nil || r.State != client.Parked || r.Handoff+string(r.Stage) != "" || r.Offer != 0 || len(r.To) > 0 {
				t.Fatalf("%+v, %v", r, err)
			}
			on, err := h.as(h.admin).Replay(ctx, made.Task, client.ReplayInput{To: []string{"cleo"}, Kind: story.as})
			if err != nil {
				t.Fatal(err)
			}
			last, err := cleo.Accept(ctx, on.Handoff, client.AcceptInput{Render: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, said := range append([]string{"Your permissions: `read`"}, all...) {
				if strings.Contains(last.Content.Prompt, said) != (slices.Contains(story.read, said) || !slices.Contains(all, said)) {
					t.Errorf("whether %q is read is wrong in\n%s", said, last.Content.Prompt)
				}
			}
		})
	}
}

// What a part was to do is not asked of the owner to whom the task goes back, nor of the agent that it then sends the task to; what it is told of facts stays.
func TestWhatWasAskedOfAPartThatALimitStopsIsNotAskedOfTheOwner(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	cleo, _ := h.agent("cleo")
	made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Limits: client.Limits{Hops: 1}, Send: &client.SendInput{To: []string{"ben"}, Content: client.Content{Ask: "write the report"}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ben.Accept(ctx, made.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	part := client.Content{Ask: "count the chairs", Facts: []client.Point{{Text: "there are two halls"}}}
	if r, err := ben.Send(ctx, made.Task, client.SendInput{Epoch: got.Epoch, To: []string{"cleo"}, Kind: client.Delegation, Content: part}); err != nil || r.State != client.Parked {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := h.as(h.admin).Replay(ctx, made.Task, client.ReplayInput{}); err != nil {
		t.Fatal(err)
	}
	on, err := ben.Send(ctx, made.Task, client.SendInput{Epoch: got.Epoch, To: []string{"cleo"}})
	if err != nil {
		t.Fatal(err)
	}
	last, err := cleo.Accept(ctx, on.Handoff, client.AcceptInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	if p := last.Content.Prompt; strings.Contains(p, "count the chairs") || !strings.Contains(p, "write the report") || !strings.Contains(p, "there are two halls") {
		t.Errorf("the next owner reads\n%s", p)
	}
}

// A replay of a task whose budget is spent is refused with the replay that gives it more, not with advice on how long a prompt may be.
func TestAReplayOfATaskWhoseBudgetIsSpentSaysHowToGiveItMore(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	h.agent("ben")
	made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Start: true, Budget: client.Spend{Tokens: 100}})
	if err == nil {
		_, err = ann.Progress(ctx, made.Task, client.ProgressInput{Epoch: made.Epoch, Note: "read it", Usage: client.Spend{Tokens: 101}})
	}
	if err != nil {
		t.Fatal(err)
	}
	var no *client.Error
	_, err = h.as(h.admin).Replay(ctx, made.Task, client.ReplayInput{To: []string{"ben"}})
	if !errors.As(err, &no) || no.Code != client.Budget || no.Hint != "replay it with a larger budget" || len(no.Helps) != 1 || no.Helps[0].ID != made.Task || no.Helps[0].Fields["budget.tokens"] != "202" {
		t.Errorf("%v", err)
	}
	if r, err := h.as(h.admin).Replay(ctx, made.Task, client.ReplayInput{To: []string{"ben"}, Budget: client.Spend{Tokens: 202}}); err != nil || r.State != client.HandingOff {
		t.Errorf("%+v, %v", r, err)
	}
}
