//go:build slow

package httpapi_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// What is said of a change of owner stands under the name of the principal that said it, and not under that of the owner who let go.
func TestTheWordsOfATakeoverAreThoseOfWhoAskedForIt(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	cleo, _ := h.agent("cleo")
	dan, _ := h.agent("dan")
	operator := h.as(h.admin)
	me, err := operator.Me(ctx)
	if err != nil {
		t.Fatal(err)
	}
	made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ann.Share(ctx, made.Task, client.ShareInput{To: "ben", Epoch: made.Epoch}); err != nil {
		t.Fatal(err)
	}
	ask, err := ben.Takeover(ctx, made.Task, client.TakeoverInput{Detail: "I know ROOFS."})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ann.Approve(ctx, ask.Takeover, client.ApproveInput{Epoch: made.Epoch}); err != nil {
		t.Fatal(err)
	}
	if got := prompt(t, ben, made.Task); !strings.HasPrefix(got, "# You take over task") || !strings.Contains(got, "from `ann`, as you asked\n") {
		t.Errorf("ben reads\n%s", got)
	}
	given, err := operator.Takeover(ctx, made.Task, client.TakeoverInput{To: "cleo", Detail: "BEN is ill."})
	if err != nil {
		t.Fatal(err)
	}
	got, err := cleo.Accept(ctx, given.Handoff, client.AcceptInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"from `ben`, as `admin/" + me.Name + "` asked\n", "ben took over from ann, who agreed: I know ROOFS."} {
		if !strings.Contains(got.Content.Prompt, want) {
			t.Errorf("cleo does not read %q:\n%s", want, got.Content.Prompt)
		}
	}
	sent, err := cleo.Send(ctx, made.Task, client.SendInput{Epoch: got.Epoch, To: []string{"dan"}, Detail: "Your turn."})
	if err != nil {
		t.Fatal(err)
	}
	if got, err = dan.Accept(ctx, sent.Handoff, client.AcceptInput{Render: true}); err != nil {
		t.Fatal(err)
	}
	if want := "admin/" + me.Name + " gave it from ben to cleo: BEN is ill."; !strings.Contains(got.Content.Prompt, want) || !strings.Contains(got.Content.Prompt, "from `cleo`\n") {
		t.Errorf("dan does not read %q:\n%s", want, got.Content.Prompt)
	}
}

// The principal that grants a takeover can say why: the agent that takes the task over reads it, under that name, and so do the next owners.
func TestTheReasonForGrantingATakeoverReachesTheNextOwners(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	dan, _ := h.agent("dan")
	operator := h.as(h.admin)
	me, err := operator.Me(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for by, c := range map[string]*client.Client{"ann": ann, "admin/" + me.Name: operator} {
		made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Start: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ann.Share(ctx, made.Task, client.ShareInput{To: "ben", Epoch: made.Epoch}); err != nil {
			t.Fatal(err)
		}
		ask, err := ben.Takeover(ctx, made.Task, client.TakeoverInput{Detail: "I know ROOFS."})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Approve(ctx, ask.Takeover, client.ApproveInput{Epoch: made.Epoch, Detail: strings.Repeat("x", 16<<10+1)}); !errors.Is(err, client.TooLarge) {
			t.Errorf("by %s: a long reason: %v", by, err)
		}
		granted, err := c.Approve(ctx, ask.Takeover, client.ApproveInput{Epoch: made.Epoch, Detail: "Only until FRIDAY.\n# Facts"})
		if err != nil {
			t.Fatal(err)
		}
		want := "\n" + by + " granted the takeover by ben: Only until FRIDAY.\n    # Facts\n"
		if got := prompt(t, ben, made.Task); strings.Count(got, want) != 1 {
			t.Errorf("ben does not read %q:\n%s", want, got)
		}
		sent, err := ben.Send(ctx, made.Task, client.SendInput{Epoch: granted.Epoch, To: []string{"dan"}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := dan.Accept(ctx, sent.Handoff, client.AcceptInput{Render: true})
		if err != nil || strings.Count(got.Content.Prompt, want) != 1 {
			t.Errorf("dan does not read %q: %v\n%+v", want, err, got.Content)
		}
		trail, err := operator.Trail(ctx, made.Task)
		if raw, _ := json.Marshal(trail); err != nil || !strings.Contains(string(raw), "Only until FRIDAY.") { // what was read as JSON can be written as JSON
			t.Errorf("the trail does not say why: %v", err)
		}
	}
}
