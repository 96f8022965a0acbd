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

// refusedAs returns the refusal that an error is.
func refusedAs(t *testing.T, err, code error) *client.Error {
	t.Helper()
	var r *client.Error
	if !errors.As(err, &r) || !errors.Is(err, code) {
		t.Fatalf("%v, want %v", err, code)
	}
	return r
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
