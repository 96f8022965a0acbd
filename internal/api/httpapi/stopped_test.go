package httpapi_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// The answer to a handoff that a limit stops names no handoff, since there is none; and what was given with it reaches whom the task is replayed to.
func TestAHandoffThatALimitStopsIsNamedNowhereAndItsContentIsKept(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	cleo, _ := h.agent("cleo")
	for _, kind := range []client.Kind{client.Warm, client.Cold} {
		made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Limits: client.Limits{Hops: 1}, Send: &client.SendInput{To: []string{"ben"}, Content: client.Content{Ask: "look", State: "begun"}}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := ben.Accept(ctx, made.Handoff, client.AcceptInput{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := ben.Send(ctx, made.Task, client.SendInput{Epoch: got.Epoch, To: []string{"cleo"}, Kind: kind, Content: client.Content{Ask: "go on", Facts: []client.Point{{Text: "it is the cookie"}}}})
		if err != nil || r.State != client.Parked || r.Handoff+string(r.Stage) != "" || r.Offer != 0 || len(r.To) > 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		on, err := h.as(h.admin).Replay(ctx, made.Task, client.ReplayInput{To: []string{"cleo"}})
		if err != nil {
			t.Fatal(err)
		}
		last, err := cleo.Accept(ctx, on.Handoff, client.AcceptInput{Render: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, said := range []string{"go on", "it is the cookie"} {
			if strings.Contains(last.Content.Prompt, said) != (kind == client.Warm) {
				t.Errorf("after a %s handoff that was stopped the prompt is\n%s", kind, last.Content.Prompt)
			}
		}
		if !strings.Contains(last.Content.Prompt, "begun") {
			t.Errorf("what there was before is gone:\n%s", last.Content.Prompt)
		}
	}
}
