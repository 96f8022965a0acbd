//go:build slow

package httpapi_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// replace removes an agent and registers another one under its name, whose client takes the place of the first.
func (h *harness) replace(name string, by map[string]*client.Client) {
	h.t.Helper()
	if _, err := h.as(h.admin).RemoveAgent(h.t.Context(), name); err != nil {
		h.t.Fatal(err)
	}
	first := by[name]
	by[name], _ = h.agent(name)
	if _, err := first.Me(h.t.Context()); !errors.Is(err, client.Unauthenticated) {
		h.t.Errorf("the token of the agent that was removed: %v", err)
	}
}

// leaves has an agent leave behind all that it can: a task that it holds, one that it requested, one that it was offered, and more.
func (v *visible) leaves() (owned, offered, ask client.Receipt) {
	v.Helper()
	ctx := v.Context()
	first := v.by["writer"]
	owned = v.must(first.CreateTask(ctx, client.CreateInput{Intent: "mine OWN", Start: true, Conversation: "talk"}))
	v.must(first.CreateTask(ctx, client.CreateInput{Intent: "kept PENDING"}))
	v.must(first.CreateTask(ctx, client.CreateInput{Intent: "sent SENT", Send: &client.SendInput{To: []string{"other"}}}))
	offered = v.must(v.by["other"].CreateTask(ctx, client.CreateInput{Intent: "got OFFER", Send: &client.SendInput{To: []string{"writer"}}}))
	v.must(v.by["other"].CreateTask(ctx, client.CreateInput{Intent: "watch APPROVE", Start: true, Send: &client.SendInput{
		To: []string{"third"}, Kind: client.Supervised, Approver: "writer",
	}}))
	v.task = owned.Task
	for _, in := range []client.RememberInput{{Text: "secret PRIVATE", Pinned: true}, {Text: "secret OFTASK", Scope: client.ScopeTask, Task: owned.Task}} {
		if _, err := first.Remember(ctx, in); err != nil {
			v.Fatal(err)
		}
	}
	if _, err := first.AppendTurn(ctx, "talk", client.TurnInput{Role: client.SpeakerAssistant, Text: "hush TALK", Task: owned.Task}); err != nil {
		v.Fatal(err)
	}
	if _, err := v.as(v.admin).CreateChannel(ctx, client.ChannelInput{Name: "news"}); err != nil {
		v.Fatal(err)
	}
	if _, err := first.Subscribe(ctx, "news", client.SubscriptionInput{}); err != nil {
		v.Fatal(err)
	}
	v.file("writer", "FILE")
	ask = v.must(first.Ask(ctx, owned.Task, client.AskInput{Epoch: owned.Epoch, Question: "may I ASK"}))
	return owned, offered, ask
}

// refusedTo checks that an agent can do nothing with what another left.
func refusedTo(t *testing.T, second *client.Client, owned, offered, ask client.Receipt) {
	t.Helper()
	for what, do := range map[string]func(context.Context) error{
		"progress": func(ctx context.Context) error {
			_, err := second.Progress(ctx, owned.Task, client.ProgressInput{Epoch: owned.Epoch, Note: "I go on"})
			return err
		},
		"cancel": func(ctx context.Context) error {
			_, err := second.Cancel(ctx, owned.Task, client.CancelInput{})
			return err
		},
		"accept": func(ctx context.Context) error {
			_, err := second.Accept(ctx, offered.Handoff, client.AcceptInput{Offer: offered.Offer})
			return err
		},
		"answer": func(ctx context.Context) error {
			_, err := second.Answer(ctx, ask.Ticket, client.AnswerInput{Answer: "yes"})
			return err
		},
		"conversation": func(ctx context.Context) error { // under that name it begins another
			_, err := second.Conversation(ctx, "talk", client.ConversationOptions{})
			return err
		},
	} {
		if err := do(t.Context()); !errors.Is(err, client.NotFound) && !errors.Is(err, client.NotPermitted) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestAnAgentInheritsNothingFromTheOneThatHadItsName goes through all that an agent can leave behind.
func TestAnAgentInheritsNothingFromTheOneThatHadItsName(t *testing.T) {
	h := open(t, httpapi.Options{})
	v := &visible{T: t, harness: h, by: map[string]*client.Client{}, files: map[string]string{}}
	ctx := t.Context()
	for _, name := range []string{"writer", "other", "third"} {
		v.by[name], _ = h.agent(name)
	}
	owned, offered, ask := v.leaves()
	h.replace("writer", v.by)
	second := v.by["writer"]
	for _, task := range []string{owned.Task, offered.Task} {
		v.task = task
		words := strings.Fields("OWN PENDING SENT OFFER APPROVE PRIVATE OFTASK TALK FILE ASK")
		for endpoint, text := range v.look()["writer"] {
			for _, w := range append(words, owned.Task, offered.Task) {
				if strings.Contains(text, w) && !strings.Contains(text, "there is no") {
					t.Errorf("%s: the second agent reads %s: %s", endpoint, w, text)
				}
			}
		}
	}
	refusedTo(t, second, owned, offered, ask)
	if c, err := second.Channel(ctx, "news"); err != nil || strings.Contains(strings.Join(c.Subscribers, " "), "writer~2") {
		t.Errorf("%+v, %v", c, err)
	}

	// What is sent to the name now is for the agent that has it now, and everything works for that.
	v.task = v.must(v.by["other"].CreateTask(ctx, client.CreateInput{Intent: "new NEWS", Start: true})).Task
	v.send("other", client.SendInput{To: []string{"writer"}})
	v.accept("writer")
	v.progress("writer", "NOTE")
	done := v.must(second.Complete(ctx, v.task, client.CompleteInput{Epoch: v.epoch, Result: client.Result{Text: "done"}}))
	if task, err := second.Task(ctx, done.Task); err != nil || task.Owner != "writer~2" {
		t.Errorf("%+v, %v", task, err)
	}
	if a, err := second.Agent(ctx, "writer"); err != nil || a.Name != "writer~2" {
		t.Errorf("%+v, %v", a, err)
	}
}

// What an operator logs for a name is said by the agent that has it now, as everything else that names an agent means that one.
func TestWhatIsLoggedForANameIsSaidByTheAgentThatHasItNow(t *testing.T) {
	h := open(t, httpapi.Options{})
	by, ctx := map[string]*client.Client{}, t.Context()
	by["writer"], _ = h.agent("writer")
	admin := h.as(h.admin)
	logs := func(agent, text string) client.Said {
		t.Helper()
		said, err := admin.AppendTurn(ctx, "talk", client.TurnInput{Role: client.SpeakerAssistant, Text: text, Agent: agent})
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	if said := logs("writer", "before"); said.Conversation != "talk~writer" {
		t.Errorf("logged in %s", said.Conversation)
	}
	h.replace("writer", by)
	if said := logs("writer", "after"); said.Conversation != "talk~writer~2" || said.Turn != 1 {
		t.Errorf("logged in %s as turn %d", said.Conversation, said.Turn)
	}
	if said := logs("writer~1", "of the first"); said.Conversation != "talk~writer" || said.Turn != 2 {
		t.Errorf("logged in %s as turn %d", said.Conversation, said.Turn)
	}
	talk, err := by["writer"].Conversation(ctx, "talk", client.ConversationOptions{Limit: 10})
	if err != nil || len(talk.Turns) != 1 || talk.Turns[0].Text != "after" || talk.Turns[0].Agent != "writer~2" {
		t.Errorf("%+v, %v", talk, err)
	}
	list, err := admin.Conversations(ctx, client.ConversationFilter{Agent: "writer"})
	if err != nil || len(list.Conversations) != 1 || list.Conversations[0].ID != "talk~writer~2" {
		t.Errorf("%+v, %v", list, err)
	}
}
