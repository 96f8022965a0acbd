package httpapi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// names is a server where mallory uses the name of a conversation before others do.
type names struct {
	*testing.T
	bob, mallory *client.Client
}

// say adds a turn, and holds the conversation that it is in against what it should be.
func (n *names) say(c *client.Client, name, text, task, want string) {
	n.Helper()
	said, err := c.AppendTurn(n.Context(), name, client.TurnInput{Role: client.SpeakerUser, Text: text, Task: task})
	if err != nil || said.Conversation != want {
		n.Errorf("%q is said in %q, %v; want %s", text, said.Conversation, err, want)
	}
}

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

// refusedAs returns the refusal that an error is.
func refusedAs(t *testing.T, err, code error) *client.Error {
	t.Helper()
	var r *client.Error
	if !errors.As(err, &r) || !errors.Is(err, code) {
		t.Fatalf("%v, want %v", err, code)
	}
	return r
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

// TestAnOperatorIsAskedWhichConversationOfANameItMeans has agents use a name before an operator does.
func TestAnOperatorIsAskedWhichConversationOfANameItMeans(t *testing.T) {
	h := open(t, httpapi.Options{})
	admin := h.as(h.admin)
	for _, name := range []string{"bob", "mallory"} {
		agent, _ := h.agent(name)
		if name == "mallory" { // while there is one, it is read by its name, and no task belongs to it by that
			if talk, err := admin.Conversation(t.Context(), "support-77", client.ConversationOptions{}); err != nil || talk.ID != "support-77~bob" {
				t.Errorf("%+v, %v", talk, err)
			}
			_, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: "x", Conversation: "support-77"})
			refusedAs(t, err, client.Conflict)
		}
		if _, err := agent.AppendTurn(t.Context(), "support-77", client.TurnInput{Role: client.SpeakerUser, Text: "hello"}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := admin.Conversation(t.Context(), "support-77", client.ConversationOptions{})
	if r := refusedAs(t, err, client.Conflict); !strings.Contains(r.Message, "support-77~bob, support-77~mallory") || !strings.Contains(r.Hint, "support-77~operator") {
		t.Errorf("%+v", r)
	}
	for name, want := range map[string]string{"support-77~bob": "support-77~bob", "support-77~operator": "support-77~operator", "support-88": "support-88~operator"} {
		made, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: "x", Conversation: name})
		if task, gone := admin.Task(t.Context(), made.Task); err != nil || gone != nil || task.Conversation != want {
			t.Errorf("%s: %q, %v, %v", name, task.Conversation, err, gone)
		}
	}
	said, err := admin.AppendTurn(t.Context(), "support-77", client.TurnInput{Role: client.SpeakerUser, Text: "said to bob", Agent: "bob"})
	if err != nil || said.Conversation != "support-77~bob" {
		t.Errorf("what is logged for an agent is in %q, %v", said.Conversation, err)
	}
}

// TestTheLongestNamesMakeAConversation has the name of a conversation and that of an agent as long as they may be, and a name that no agent can have.
func TestTheLongestNamesMakeAConversation(t *testing.T) {
	h := open(t, httpapi.Options{})
	longest := strings.Repeat("n", event.MaxName)
	agent, _ := h.agent(longest)
	said, err := agent.AppendTurn(t.Context(), longest, client.TurnInput{Role: "user", Text: "hello"})
	if err != nil || said.Conversation != longest+"~"+longest {
		t.Errorf("%+v, %v", said, err)
	}
	if _, err := agent.Conversation(t.Context(), said.Conversation, client.ConversationOptions{}); err != nil {
		t.Errorf("its id: %v", err)
	}
	_, err = h.as(h.admin).AppendTurn(t.Context(), "chat", client.TurnInput{Role: "user", Text: "hello", Agent: "admin/ada"})
	refusedAs(t, err, client.Invalid)
}
