//go:build slow

package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// The word of a person is as good as the agent that brought it: it is named with the person wherever the word is read.
func TestTheAgentThatBroughtTheWordOfAPersonIsNamedWithIt(t *testing.T) {
	h := open(t, httpapi.Options{})
	coder, ctx := h.atClient("coder", "ann"), t.Context()
	next, _ := h.agent("next")
	const who = "operator/ann at the client of coder"
	made, asked := asks(t, coder)
	if _, err := coder.Answer(client.WithPerson(ctx, "ann"), asked.Ticket, client.AnswerInput{Answer: "The second"}); err != nil {
		t.Fatal(err)
	}
	now, err := coder.Task(ctx, made.Task)
	if err != nil {
		t.Fatal(err)
	}
	if now.Ticket == nil || now.Ticket.ClosedBy != who || len(now.Answers) != 1 || now.Answers[0].By != who {
		t.Errorf("the task has the ticket %+v and the answers %+v", now.Ticket, now.Answers)
	}
	sent, err := coder.Send(ctx, made.Task, client.SendInput{Epoch: now.Epoch, To: []string{"next"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := next.Accept(ctx, sent.Handoff, client.AcceptInput{}); err != nil {
		t.Fatal(err)
	}
	got, err := next.Content(ctx, sent.Handoff, client.ContentInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Prompt, "operator/ann answer at the client of coder") {
		t.Errorf("the prompt of the next receiver does not name the agent: %s", got.Prompt)
	}
}

// The description names the person at a client at the calls that count as theirs, and at no others.
func TestTheDescriptionSaysWhichCallsCountAsThePersons(t *testing.T) {
	h := open(t, httpapi.Options{})
	h.agent("coder")
	token, err := h.as(h.admin).CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "coder", Person: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range describe(t, h).Paths {
		for method, op := range item {
			line := strings.ToUpper(method) + " " + parameter.ReplaceAllString(path, "x")
			r := h.call(token.Text, line, "{}", "Trapeze-Person: ann")
			if method == "head" {
				if r.status != http.StatusForbidden {
					t.Errorf("%s: %d", line, r.status)
				}
				continue // without a body
			}
			taken := !strings.Contains(r.body, "a person at the client of an agent can only answer questions")
			if described := strings.Contains(op.Description, "Trapeze-Person"); described != taken {
				t.Errorf("%s: the description names the person: %t, the call counts as the person's: %t", line, described, taken)
			}
		}
	}
}
