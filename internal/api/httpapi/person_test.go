package httpapi_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// atClient is an agent whose token names the person at its client.
func (h *harness) atClient(agent, person string) *client.Client {
	h.t.Helper()
	h.agent(agent)
	t, err := h.as(h.admin).CreateToken(h.t.Context(), client.TokenInput{Role: client.RoleAgent, Name: agent, Person: person})
	if err != nil {
		h.t.Fatal(err)
	}
	return h.as(t.Text)
}

// asks begins a task, and asks a question about it.
func asks(t *testing.T, c *client.Client) (made, asked client.Receipt) {
	t.Helper()
	made, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "Move the data", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	if asked, err = c.Ask(t.Context(), made.Task, client.AskInput{Epoch: made.Epoch, Question: "Which copy?"}); err != nil {
		t.Fatal(err)
	}
	return made, asked
}

func TestThePersonAtAClientAnswersThereAsAnOperator(t *testing.T) {
	h := open(t, httpapi.Options{})
	coder := h.atClient("coder", "ann")
	ctx := t.Context()
	_, asked := asks(t, coder)
	if _, err := coder.Answer(ctx, asked.Ticket, client.AnswerInput{Answer: "The second"}); err == nil {
		t.Error("an agent answered its own question")
	}
	if _, err := coder.Answer(client.WithPerson(ctx, "ann"), asked.Ticket, client.AnswerInput{Answer: "The second"}); err != nil {
		t.Fatal(err)
	}
	k, err := coder.Ticket(ctx, asked.Ticket, 0)
	if err != nil {
		t.Fatal(err)
	}
	if k.ClosedBy != "operator/ann at the client of coder" || k.Answer != "The second" {
		t.Errorf("the ticket was closed by %q with %q", k.ClosedBy, k.Answer)
	}
}

// A token that names a person makes its agent see no more and decide no more: the holder could claim whatever it likes of her.
func TestAPersonAtAClientAnswersOnlyWhatIsAskedThere(t *testing.T) {
	h := open(t, httpapi.Options{})
	coder, ctx := h.atClient("coder", "ann"), client.WithPerson(t.Context(), "ann")
	other, _ := h.agent("other")
	h.agent("deployer")
	h.agent("bob")
	send := func(c *client.Client, in client.SendInput) client.Receipt {
		r, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "Deploy", Send: &in})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	asks := func(c *client.Client, in client.AskInput) string {
		made, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "Move the data", Start: true})
		if err != nil {
			t.Fatal(err)
		}
		in.Epoch, in.Question = made.Epoch, "Which copy?"
		r, err := c.Ask(t.Context(), made.Task, in)
		if err != nil {
			t.Fatal(err)
		}
		return r.Ticket
	}
	own := send(coder, client.SendInput{To: []string{"deployer"}, Kind: client.Supervised})
	named := send(coder, client.SendInput{To: []string{"deployer"}, Kind: client.Supervised, Approver: "bob"})
	foreign := send(other, client.SendInput{To: []string{"deployer"}, Kind: client.Supervised})
	for name, handoff := range map[string]string{"its own handoff": own.Handoff, "one with another approver": named.Handoff, "one of others": foreign.Handoff} {
		if _, err := coder.Approve(ctx, handoff, client.ApproveInput{}); !errors.Is(err, client.NotPermitted) {
			t.Errorf("approved %s: %v", name, err)
		}
		if _, err := coder.Deny(ctx, handoff, client.DenyInput{}); !errors.Is(err, client.NotPermitted) {
			t.Errorf("denied %s: %v", name, err)
		}
	}
	if _, err := coder.Answer(ctx, asks(other, client.AskInput{}), client.AnswerInput{Answer: "x"}); !errors.Is(err, client.NotFound) {
		t.Errorf("answered a question of a task that its agent may not see: %v", err)
	}
	if _, err := coder.Answer(ctx, asks(other, client.AskInput{To: "coder"}), client.AnswerInput{Answer: "x"}); !errors.Is(err, client.NotFound) {
		t.Errorf("answered for its agent: %v", err)
	}
	if _, err := coder.Answer(ctx, asks(coder, client.AskInput{To: "bob"}), client.AnswerInput{Answer: "x"}); !errors.Is(err, client.NotPermitted) {
		t.Errorf("answered a question that somebody else is asked by name: %v", err)
	}

	ticket := asks(coder, client.AskInput{})
	if _, err := coder.Answer(ctx, ticket, client.AnswerInput{Answer: "the second"}); err != nil {
		t.Fatal(err)
	}
	trail, err := h.as(h.admin).Trail(t.Context(), strings.Split(ticket, ".")[0])
	if err != nil {
		t.Fatal(err)
	}
	last := trail.Entries[len(trail.Entries)-1]
	if last.Agent != "coder" || !slices.Equal(last.For, []string{"operator/ann"}) {
		t.Errorf("the trail names %q for %q", last.Agent, last.For)
	}
	for _, line := range strings.Split(h.call(h.admin, "GET /v1/audit/export?format=jsonl", "").body, "\n") {
		if strings.Contains(line, "the second") && (!strings.Contains(line, `"agent":"coder"`) || !strings.Contains(line, `"operator/ann"`)) {
			t.Errorf("the export has one of them only: %s", line)
		}
	}
}

func TestAPersonAtAClientIsWhomTheTokenNamesAndDoesNothingElse(t *testing.T) {
	h := open(t, httpapi.Options{})
	coder := h.atClient("coder", "ann")
	plain, _ := h.agent("plain")
	ctx := t.Context()
	made, asked := asks(t, coder)
	for name, try := range map[string]func() error{
		"another person": func() error {
			_, err := coder.Answer(client.WithPerson(ctx, "bob"), asked.Ticket, client.AnswerInput{Answer: "x"})
			return err
		},
		"a token without a person": func() error {
			_, err := plain.Answer(client.WithPerson(ctx, "ann"), asked.Ticket, client.AnswerInput{Answer: "x"})
			return err
		},
		"something else": func() error {
			_, err := coder.Cancel(client.WithPerson(ctx, "ann"), made.Task, client.CancelInput{})
			return err
		},
		"an agent's registration": func() error {
			_, err := coder.RegisterAgent(client.WithPerson(ctx, "ann"), "fake", client.AgentSpec{})
			return err
		},
	} {
		if err := try(); !errors.Is(err, client.NotPermitted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, in := range map[string]client.TokenInput{
		"of an operator": {Role: client.RoleOperator, Name: "olga", Person: "ann"},
		"the agent":      {Role: client.RoleAgent, Name: "coder", Person: "coder"},
		"a bad name":     {Role: client.RoleAgent, Name: "coder", Person: "no name\n"},
	} {
		if _, err := h.as(h.admin).CreateToken(ctx, in); !errors.Is(err, client.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
