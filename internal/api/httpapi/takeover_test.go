package httpapi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// An agent whose takeover was granted owns the task, and there is nothing for it to accept; one that grants it twice has nothing to decide. Both read
// who owns the task, and what to do.
func TestATakeoverThatWasGrantedSaysWhoOwnsTheTask(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ann.Share(ctx, made.Task, client.ShareInput{To: "ben", Epoch: made.Epoch}); err != nil {
		t.Fatal(err)
	}
	ask, err := ben.Takeover(ctx, made.Task, client.TakeoverInput{})
	if err != nil {
		t.Fatal(err)
	}
	granted, err := h.as(h.admin).Approve(ctx, ask.Takeover, client.ApproveInput{})
	if err != nil || granted.Owner != "ben" {
		t.Fatalf("%+v, %v", granted, err)
	}
	task, err := ben.Task(ctx, made.Task)
	if err != nil {
		t.Fatal(err)
	}
	says := func(what string, err error, words ...string) {
		t.Helper()
		var e *client.Error
		if !errors.As(err, &e) || e.Hint == "" || strings.Contains(e.Hint, "nothing to do") {
			t.Errorf("%s: %v", what, err)
			return
		}
		for _, w := range words {
			if !strings.Contains(e.Message+" "+e.Hint, w) {
				t.Errorf("%s: %v does not say %q", what, e, w)
			}
		}
	}
	_, err = ben.Accept(ctx, task.Handoff.ID, client.AcceptInput{})
	says("the new owner accepts", err, "ben owns task", "epoch 2", "fetch the context")
	_, err = ben.Takeover(ctx, made.Task, client.TakeoverInput{})
	says("the new owner asks again", err, "ben owns task", "epoch 2", "fetch the context")
	_, err = h.as(h.admin).Approve(ctx, ask.Takeover, client.ApproveInput{})
	says("it is granted again", err, "is over", "ben owns the task, under epoch 2")
	_, err = h.as(h.admin).Deny(ctx, ask.Takeover, client.DenyInput{})
	says("it is denied after that", err, "is over", "ben owns the task, under epoch 2")
	if s, err := ben.Content(ctx, task.Handoff.ID, client.ContentInput{Render: true}); err != nil || s.Prompt == "" {
		t.Errorf("the context: %v", err)
	}
}

// An operator or admin who is registered as a person takes a task over, does all that its owner may, and ends it or hands it on. Others of these
// roles may not, and neither may one that has the name of a program.
func TestAnOperatorWhoTakesATaskOverEndsIt(t *testing.T) {
	for _, role := range []client.Role{client.RoleOperator, client.RoleAdmin} {
		t.Run(string(role), func(t *testing.T) {
			h := open(t, httpapi.Options{})
			ctx, admin := t.Context(), h.as(h.admin)
			as := func(role client.Role, name string) *client.Client {
				t.Helper()
				token, err := admin.CreateToken(ctx, client.TokenInput{Role: role, Name: name})
				if err != nil {
					t.Fatal(err)
				}
				return h.as(token.Text)
			}
			ann, _ := h.agent("ann")
			program, _ := h.agent("bot")
			h.atDesk("olga", "billing")
			olga, omar, bot := as(role, "olga"), as(role, "omar"), as(role, "bot")
			done := func(r client.Receipt, err error) client.Receipt {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			accepted := func(c *client.Client, handoff string) {
				t.Helper()
				if _, err := c.Accept(ctx, handoff, client.AcceptInput{}); err != nil {
					t.Fatal(err)
				}
			}
			taken := func() client.Receipt {
				t.Helper()
				task := done(ann.CreateTask(ctx, client.CreateInput{Intent: "call the customer", Send: &client.SendInput{To: []string{"human:billing"}}})).Task
				return done(olga.Claim(ctx, task+".k1"))
			}
			first := taken()
			task, epoch := first.Task, first.Epoch
			if first.Owner != "olga" {
				t.Errorf("%+v", first)
			}
			complete := client.CompleteInput{Epoch: epoch, Result: client.Result{Text: "called"}}
			if _, err := omar.Complete(ctx, task, complete); !errors.Is(err, client.NotOwner) {
				t.Errorf("another completes it: %v", err)
			}
			if _, err := olga.Complete(ctx, task, client.CompleteInput{Epoch: epoch + 1}); !errors.Is(err, client.StaleEpoch) {
				t.Errorf("with a wrong epoch: %v", err)
			}
			done(olga.Heartbeat(ctx, task, epoch))
			done(olga.Progress(ctx, task, client.ProgressInput{Epoch: epoch, Note: "calling"}))
			if _, err := olga.Ask(ctx, task, client.AskInput{Epoch: epoch, Question: "Which number?"}); !errors.Is(err, client.Conflict) { // as anybody who has taken over
				t.Errorf("she asks: %v", err)
			}
			done(olga.Complete(ctx, task, complete))
			got, err := admin.Task(ctx, task)
			if err != nil || got.State != client.Completed || got.Result == nil || got.Result.Text != "called" || got.Owner != "olga" {
				t.Errorf("%v: %+v", err, got)
			}
			trail, err := admin.Trail(ctx, task)
			if err != nil {
				t.Fatal(err)
			}
			if last := trail.Entries[len(trail.Entries)-1]; last.Agent != string(role)+"/olga" { // the record names whose token it was
				t.Errorf("%+v", last)
			}
			second := taken()
			done(olga.Fail(ctx, second.Task, client.FailInput{Epoch: second.Epoch, Detail: "nobody answers"}))
			third := taken()
			sent := done(olga.Send(ctx, third.Task, client.SendInput{Epoch: third.Epoch, To: []string{"ann"}}))
			accepted(ann, sent.Handoff)
			own := done(admin.CreateTask(ctx, client.CreateInput{Intent: "x", Send: &client.SendInput{To: []string{"bot"}}}))
			accepted(program, own.Handoff)
			if _, err := bot.Complete(ctx, own.Task, client.CompleteInput{Epoch: 1}); !errors.Is(err, client.NotOwner) {
				t.Errorf("an operator acts as the program of the same name: %v", err)
			}
		})
	}
}

func TestAnAgentCannotHaveTheNameOfAnAuthority(t *testing.T) {
	h := open(t, httpapi.Options{})
	admin := h.as(h.admin)
	for _, name := range []string{"operator", "admin", "adm1n", "server", "requester", "system", "trapeze", "person", "the-operator", "operator-chief", "owner", "you", "all", "everyone"} {
		_, err := admin.RegisterAgent(t.Context(), name, client.AgentSpec{})
		var e *client.Error
		if !errors.As(err, &e) || e.Code != client.Invalid || !strings.Contains(e.Message, "could be taken for") || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A task whose ask or open questions are too long for an agent gets to it all the same: who takes the task over for the agent, or replays it to the agent, says what
// the agent is to do instead. The refusal says so.
func TestAnOperatorReplacesWhatIsTooLongForTheReceiver(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx, admin := t.Context(), h.as(h.admin)
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	tiny, _ := h.agent("tiny")
	if _, err := admin.RegisterAgent(ctx, "tiny", client.AgentSpec{ContextWindow: 1200}); err != nil {
		t.Fatal(err)
	}
	long, questions := strings.Repeat("and then look at the next page ", 300), []string{strings.Repeat("which page is it? ", 200)}
	instead := client.Content{Ask: "Read page 7.", Questions: []string{}}
	for name, c := range map[string]struct {
		content client.Content
		call    func(task string, in client.Content) (client.Receipt, error)
	}{
		"a takeover": {client.Content{Ask: long}, func(task string, in client.Content) (client.Receipt, error) {
			return admin.Takeover(ctx, task, client.TakeoverInput{To: "tiny", Content: in})
		}},
		"a takeover of questions": {client.Content{Ask: "read", Questions: questions}, func(task string, in client.Content) (client.Receipt, error) {
			return admin.Takeover(ctx, task, client.TakeoverInput{To: "tiny", Content: in})
		}},
		"a replay": {client.Content{Ask: long}, func(task string, in client.Content) (client.Receipt, error) {
			return admin.Replay(ctx, task, client.ReplayInput{To: []string{"tiny"}, Content: in})
		}},
		"a cold replay": {client.Content{Ask: long}, func(task string, in client.Content) (client.Receipt, error) {
			return admin.Replay(ctx, task, client.ReplayInput{To: []string{"tiny"}, Kind: client.Cold, Content: in})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			by, replays := ann, strings.HasSuffix(name, "replay")
			if replays { // what no agent owns goes to the dead letters
				by = admin
			}
			made, err := by.CreateTask(ctx, client.CreateInput{Intent: "read the book", Content: c.content, Send: &client.SendInput{To: []string{"ben"}, Retries: new(int)}})
			if err != nil {
				t.Fatal(err)
			}
			if replays {
				_, err = ben.Reject(ctx, made.Handoff, client.RejectInput{Reason: client.Refused})
			} else {
				_, err = ben.Accept(ctx, made.Handoff, client.AcceptInput{})
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.call(made.Task, client.Content{})
			var no *client.Error
			if !errors.As(err, &no) || no.Code != client.Budget || !strings.Contains(no.Hint, "give it a shorter ask, close the open questions") {
				t.Errorf("with what was asked: %v", err)
			}
			got, err := c.call(made.Task, instead)
			if err != nil {
				t.Fatal(err)
			}
			read, err := tiny.Accept(ctx, got.Handoff, client.AcceptInput{Render: true})
			if err != nil {
				t.Fatal(err)
			}
			if p := read.Content.Prompt; !strings.Contains(p, "Read page 7.") || strings.Contains(p, "and then look") || strings.Contains(p, "which page") {
				t.Errorf("the receiver reads:\n%s", p)
			}
		})
	}
}

// Content where nobody reads it is refused.
func TestWhoAsksForATaskAndAReplayToTheOwnerHaveNoContent(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx, admin := t.Context(), h.as(h.admin)
	ben, _ := h.agent("ben")
	instead := client.Content{Ask: "Read page 7."}
	made, err := admin.CreateTask(ctx, client.CreateInput{Intent: "read", Send: &client.SendInput{To: []string{"ben"}, Retries: new(int)}})
	if err != nil {
		t.Fatal(err)
	}
	field := func(what string, err error) {
		t.Helper()
		var no *client.Error
		if !errors.As(err, &no) || no.Code != client.Invalid || no.Details["field"] != "content.ask" {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = ben.Takeover(ctx, made.Task, client.TakeoverInput{Content: instead})
	field("an agent that asks for a task", err)
	if _, err := ben.Reject(ctx, made.Handoff, client.RejectInput{Reason: client.Refused}); err != nil {
		t.Fatal(err)
	}
	_, err = admin.Replay(ctx, made.Task, client.ReplayInput{Home: true, Content: instead})
	field("a replay to the owner", err)
}

// A call that names no epoch is told so, and not that ownership has changed.
func TestACallWithoutAnEpochIsToldThatItIsMissing(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, token := h.agent("ann")
	h.agent("ben")
	made, err := h.as(token).CreateTask(t.Context(), client.CreateInput{Intent: "x", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := h.as(token).Send(t.Context(), made.Task, client.SendInput{Epoch: made.Epoch, To: []string{"ben"}})
	if err != nil {
		t.Fatal(err)
	}
	for line, body := range map[string]string{
		"POST /v1/handoffs/" + sent.Handoff + "/withdraw": `{"detail":"x"}`,
		"POST /v1/tasks/" + made.Task + "/share":          `{"to":"ben"}`, "POST /v1/tasks/" + made.Task + "/send": `{"to":["ben"]}`,
	} {
		if p := h.call(token, line, body).problem(t); client.Code(p.Code) != client.StaleEpoch || !strings.Contains(p.Detail, "the call has no epoch") || strings.Contains(p.Hint, "changed") {
			t.Errorf("%s: %+v", line, p)
		}
	}
}
