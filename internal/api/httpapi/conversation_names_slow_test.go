//go:build slow

package httpapi_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// meddle offers bob a task that names the conversation, which he may accept.
func (n *names) meddle(accepted bool) {
	n.Helper()
	made, err := n.mallory.CreateTask(n.Context(), client.CreateInput{Intent: "x", Conversation: "support-77", Send: &client.SendInput{To: []string{"bob"}}})
	if err == nil && accepted {
		_, err = n.bob.Accept(n.Context(), made.Handoff, client.AcceptInput{})
	}
	if err != nil {
		n.Fatal(err)
	}
}

// TestNobodyElseDecidesWhatTheNameOfAConversationMeans has an agent use the name first, and send the receiver tasks that name it, at each step of the others.
func TestNobodyElseDecidesWhatTheNameOfAConversationMeans(t *testing.T) {
	h := open(t, httpapi.Options{})
	alice, _ := h.agent("alice")
	bob, _ := h.agent("bob")
	carol, _ := h.agent("carol")
	mallory, mal := h.agent("mallory")
	n := &names{t, bob, mallory}
	n.say(mallory, "support-77", "mine now", "", "support-77~mallory")
	n.meddle(false)
	made, err := alice.CreateTask(t.Context(), client.CreateInput{Intent: "help", Start: true, Conversation: "support-77"})
	if err != nil {
		t.Fatal(err)
	}
	n.meddle(true)
	sent, err := alice.Send(t.Context(), made.Task, client.SendInput{Epoch: made.Epoch, To: []string{"bob"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := bob.Accept(t.Context(), sent.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	const ours = "support-77~alice"
	if task, err := bob.Task(t.Context(), made.Task); err != nil || task.Conversation != ours {
		t.Errorf("the task belongs to %q, %v", task.Conversation, err)
	}
	n.say(bob, "support-77", "BOBone", made.Task, ours) // begins it
	n.meddle(false)
	n.say(bob, "support-77", "BOBtwo", made.Task, ours)
	n.say(bob, ours, "BOBthree", "", ours)
	n.meddle(true)
	n.say(bob, "support-77", "BOBfour", made.Task, ours)
	n.say(bob, "support-77", "of my own", "", "support-77~bob")
	n.say(alice, "support-77", "ALICE", "", ours) // whose name it is, though she had not spoken
	for _, c := range []struct {
		by   *client.Client
		name string
	}{{bob, ours}, {alice, "support-77"}, {alice, ours}} {
		if talk, err := c.by.Conversation(t.Context(), c.name, client.ConversationOptions{}); err != nil || talk.ID != ours || talk.Count != 5 || len(talk.Turns) != 5 {
			t.Errorf("%s: %+v, %v", c.name, talk, err)
		}
	}
	next, err := bob.Send(t.Context(), made.Task, client.SendInput{Epoch: got.Epoch, To: []string{"carol"}})
	if err != nil {
		t.Fatal(err)
	}
	taken, err := carol.Accept(t.Context(), next.Handoff, client.AcceptInput{Render: true})
	if err != nil || !strings.Contains(taken.Content.Prompt, "BOBfour") || !strings.Contains(taken.Content.Prompt, "5 turns in "+ours) || strings.Contains(taken.Content.Prompt, "mine now") {
		t.Errorf("the next owner is told: %v\n%s", err, taken.Content.Prompt)
	}
	_, err = carol.Conversation(t.Context(), "support-77", client.ConversationOptions{}) // not hers, and she is told which one she has
	if r := refusedAs(t, err, client.NotFound); !strings.Contains(r.Message, ours) || r.Hint != "name it by its id" {
		t.Errorf("by a name that is not hers: %+v", r)
	}
	for _, line := range []string{"GET /v1/conversations/" + ours, "GET /v1/conversations/support-77~bob", "GET /v1/conversations?text=BOB", "GET /v1/conversations/support-77"} {
		if r := h.call(mal, line, ""); strings.Contains(r.body, "BOB") || strings.Contains(strings.ReplaceAll(r.body, ours, ""), "alice") {
			t.Errorf("%s: %s", line, r.body)
		}
	}
}
