package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// contentOf is content with a word of its own in each field.
func contentOf(whose string) client.Content {
	return client.Content{
		Ask: whose + "-ask", State: whose + "-state", Summary: whose + "-summary", Questions: []string{whose + "-question"},
		Data: fmt.Appendf(nil, `{"of":"%s-data"}`, whose), Facts: []client.Point{{Text: whose + "-fact"}},
	}
}

// prompt is the context that a reader gets.
func prompt(t *testing.T, who *client.Client, id string) string {
	t.Helper()
	s, err := who.Content(t.Context(), id, client.ContentInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	return s.Prompt
}

// has fails if a prompt lacks words of one content, unless that is empty, or has words of the other.
func has(t *testing.T, whose, prompt, other string, words ...string) {
	t.Helper()
	for _, w := range words {
		if whose != "" && !strings.Contains(prompt, whose+"-"+w) {
			t.Errorf("%s-%s is missing in\n%s", whose, w, prompt)
		}
		if strings.Contains(prompt, other+"-"+w) {
			t.Errorf("%s-%s is in\n%s", other, w, prompt)
		}
	}
}

// What is said with a share is for its reader: the owner's own words stay those of the task, for the owner and for the next one.
func TestWhatAShareSaysReachesItsReaderAndIsNotTheTasksOwn(t *testing.T) {
	for _, from := range []string{"created", "nothing", "delegated"} {
		t.Run(from, func(t *testing.T) {
			h := open(t, httpapi.Options{})
			ctx := t.Context()
			ann, _ := h.agent("ann")
			ben, _ := h.agent("ben")
			cleo, _ := h.agent("cleo")
			in := client.CreateInput{Intent: "x", Start: true}
			if from == "created" {
				in.Content = contentOf("own")
			}
			made, err := ann.CreateTask(ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			if from == "delegated" {
				if _, err := ann.Send(ctx, made.Task, client.SendInput{Epoch: made.Epoch, Kind: client.Delegation, To: []string{"cleo"}, Content: contentOf("own")}); err != nil {
					t.Fatal(err)
				}
			}
			var share client.Receipt
			for range 2 { // also after another share
				if share, err = ann.Share(ctx, made.Task, client.ShareInput{To: "ben", Epoch: made.Epoch, Content: contentOf("shared")}); err != nil {
					t.Fatal(err)
				}
			}
			all := []string{"state", "summary", "question", "data"}
			has(t, "shared", prompt(t, ben, share.Share), "own", all...)
			own := "own"
			if from == "nothing" {
				own = ""
			}
			if from != "delegated" {
				if from == "created" {
					has(t, own, prompt(t, ann, made.Task), "shared", append(all, "ask")...)
				}
				sent, err := ann.Send(ctx, made.Task, client.SendInput{Epoch: made.Epoch, To: []string{"cleo"}})
				if err != nil {
					t.Fatal(err)
				}
				got, err := cleo.Accept(ctx, sent.Handoff, client.AcceptInput{Render: true})
				if err != nil {
					t.Fatal(err)
				}
				has(t, own, got.Content.Prompt, "shared", append(all, "ask")...)
				if !strings.Contains(got.Content.Prompt, "shared-fact") {
					t.Errorf("a fact that was learned stays:\n%s", got.Content.Prompt)
				}
				return
			}
			again, err := ann.Share(ctx, made.Task, client.ShareInput{To: "ben", Epoch: made.Epoch})
			if err != nil {
				t.Fatal(err)
			}
			has(t, own, prompt(t, ben, again.Share), "shared", all...)
		})
	}
}
