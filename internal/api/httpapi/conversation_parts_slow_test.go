//go:build slow

package httpapi_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// TestWhoReadsAConversationForATimeDoesNotStayInIt: an approver and a former owner read, for as long as the task lets them, and add nothing, by which they would read
// all that follows; nor do they say what the conversation is about, by which the turns of others are erased.
func TestWhoReadsAConversationForATimeDoesNotStayInIt(t *testing.T) {
	h := open(t, httpapi.Options{})
	alice, _ := h.agent("alice")
	bob, _ := h.agent("bob")
	mallory, _ := h.agent("mallory")
	for _, begun := range []bool{true, false} {
		name := map[bool]string{true: "begun", false: "fresh"}[begun]
		id := name + "~alice"
		if begun {
			say(t, alice, name, client.TurnInput{Text: "OLD"}, nil)
		}
		made, err := alice.CreateTask(t.Context(), client.CreateInput{Intent: "x", Start: true, Conversation: name})
		if err != nil {
			t.Fatal(err)
		}
		sent, err := alice.Send(t.Context(), made.Task, client.SendInput{Epoch: made.Epoch, Kind: client.Supervised, Approver: "mallory", To: []string{"bob"}})
		if err != nil {
			t.Fatal(err)
		}
		adds := func(who string) {
			t.Helper()
			for _, in := range []client.TurnInput{{}, {Task: made.Task}, {Task: made.Task, Subject: "patient/666"}} {
				for _, called := range []string{id, name} {
					if called == name && in.Task == "" { // which is one of its own
						continue
					}
					in.Role, in.Text = client.SpeakerUser, "sneak"
					if said, err := mallory.AppendTurn(t.Context(), called, in); err == nil {
						t.Errorf("%s adds %+v to %s: %+v", who, in, called, said)
					}
				}
			}
		}
		adds("an approver")
		if _, err := mallory.Deny(t.Context(), sent.Handoff, client.DenyInput{}); err != nil {
			t.Fatal(err)
		}
		adds("a former approver")
		epoch := made.Epoch
		for i, to := range []*client.Client{mallory, bob} {
			by := []*client.Client{alice, mallory}[i]
			sent, err := by.Send(t.Context(), made.Task, client.SendInput{Epoch: epoch, To: []string{[]string{"mallory", "bob"}[i]}, Detail: "DETAIL"})
			if err != nil {
				t.Fatal(err)
			}
			got, err := to.Accept(t.Context(), sent.Handoff, client.AcceptInput{})
			if err != nil {
				t.Fatal(err)
			}
			epoch = got.Epoch
			if i == 0 {
				say(t, mallory, id, client.TurnInput{Text: "x", Subject: "patient/666", Task: made.Task}, client.NotPermitted)
			}
		}
		adds("a former owner")
		say(t, alice, name, client.TurnInput{Text: "LATER", Subject: "patient/12"}, nil)
		say(t, bob, id, client.TurnInput{Text: "BOB", Task: made.Task}, nil)
		talk, err := mallory.Conversation(t.Context(), id, client.ConversationOptions{})
		for _, turn := range talk.Turns {
			if turn.Text != "OLD" {
				t.Errorf("a former owner reads %+v, %v", turn, err)
			}
		}
	}
}

// TestAContinuityTextHasTheWordsOfTasksThatItsReaderReads: which tasks changed hands is for all that read the conversation, and what their senders wrote is not.
func TestAContinuityTextHasTheWordsOfTasksThatItsReaderReads(t *testing.T) {
	h := open(t, httpapi.Options{})
	alice, _ := h.agent("alice")
	bob, _ := h.agent("bob")
	mallory, _ := h.agent("mallory")
	hand := func(to *client.Client, name, detail string) (client.Accepted, string) {
		t.Helper()
		made, err := alice.CreateTask(t.Context(), client.CreateInput{
			Intent: "x", Conversation: "multi", Send: &client.SendInput{To: []string{name}, Detail: detail, Reason: client.ReasonSpecialization},
		})
		if err != nil {
			t.Fatal(err)
		}
		content, err := to.Content(t.Context(), made.Handoff, client.ContentInput{Render: true})
		if err != nil {
			t.Fatal(err)
		}
		got, err := to.Accept(t.Context(), made.Handoff, client.AcceptInput{Render: true})
		if err != nil {
			t.Fatal(err)
		}
		return got, content.Prompt + string(content.Envelope)
	}
	say(t, alice, "multi", client.TurnInput{Text: "begin"}, nil)
	hand(bob, "bob", "DIVORCE")
	got, offered := hand(mallory, "mallory", "MINE")
	if strings.Contains(got.Content.Prompt+offered, "DIVORCE") || !strings.Contains(got.Content.Prompt, "alice -> bob") {
		t.Errorf("the prompt is\n%s", got.Content.Prompt)
	}
	for _, c := range []struct {
		by     *client.Client
		reads  string
		hidden string
	}{{mallory, "MINE", "DIVORCE"}, {bob, "DIVORCE", "MINE"}, {alice, "DIVORCE", ""}} {
		text, err := c.by.Continuity(t.Context(), "multi~alice", 0)
		if err != nil || !strings.Contains(text.Text, c.reads) || c.hidden != "" && strings.Contains(text.Text, c.hidden) {
			t.Errorf("the continuity text is\n%s, %v", text.Text, err)
		}
	}
}

// say adds a turn, or is refused.
func say(t *testing.T, by *client.Client, name string, in client.TurnInput, want error) {
	t.Helper()
	in.Role = client.SpeakerUser
	_, err := by.AppendTurn(t.Context(), name, in)
	if want != nil {
		refusedAs(t, err, want)
	} else if err != nil {
		t.Fatal(err)
	}
}
