package server

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// marked matches what is no text of a page.
var marked = regexp.MustCompile(`(?s)<details>.*?</details>|<[^>]*>`)

// texts are the parts of a page between two marks, as they are read.
func texts(body, begin, end string) (all []string) {
	for _, part := range strings.Split(body, begin)[1:] {
		part, _, _ = strings.Cut(part, end)
		_, part, _ = strings.Cut(part, ">")
		all = append(all, html.UnescapeString(strings.Join(strings.Fields(marked.ReplaceAllString(part, " ")), " ")))
	}
	return all
}

// asks opens a question, and sends a handoff, each on a task of its own.
func asks(in client.AskInput) func(t *testing.T, ann *client.Client) string {
	return func(t *testing.T, ann *client.Client) string {
		r, err := ann.CreateTask(t.Context(), client.CreateInput{Intent: "Pay it back", Start: true})
		if err != nil {
			t.Fatal(err)
		}
		in.Epoch, in.Question = 1, "Refund it?"
		must(t)(ann.Ask(t.Context(), r.Task, in))
		return r.Task
	}
}

func sends(in client.SendInput) func(t *testing.T, ann *client.Client) string {
	return func(t *testing.T, ann *client.Client) string {
		r, err := ann.CreateTask(t.Context(), client.CreateInput{Intent: "Pay it back", Send: &in})
		if err != nil {
			t.Fatal(err)
		}
		return r.Task
	}
}
