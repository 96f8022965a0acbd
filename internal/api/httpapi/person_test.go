package httpapi_test

import (
	"errors"
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

func TestThePersonAtAClientAnswersThereAsAnOperator(t *testing.T) {
	h := open(t, httpapi.Options{})
	coder := h.atClient("coder", "ann")
	ctx := t.Context()
	made, err := coder.CreateTask(ctx, client.CreateInput{Intent: "Move the data", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := coder.Ask(ctx, made.Task, client.AskInput{Epoch: made.Epoch, Question: "Which copy?"})
	if err != nil {
		t.Fatal(err)
	}
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
	if k.ClosedBy != "operator/ann" || k.Answer != "The second" {
		t.Errorf("the ticket was closed by %q with %q", k.ClosedBy, k.Answer)
	}
}

func TestThePersonAtAClientApprovesWhatItsAgentAskedFor(t *testing.T) {
	h := open(t, httpapi.Options{})
	coder := h.atClient("coder", "ann")
	h.agent("deployer")
	ctx := t.Context()
	sent, err := coder.CreateTask(ctx, client.CreateInput{Intent: "Deploy", Send: &client.SendInput{To: []string{"deployer"}, Kind: client.Supervised}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := coder.Approve(ctx, sent.Handoff, client.ApproveInput{}); !errors.Is(err, client.NotPermitted) {
		t.Errorf("the agent approved its own handoff: %v", err)
	}
	if _, err := coder.Approve(client.WithPerson(ctx, "ann"), sent.Handoff, client.ApproveInput{Digest: "sha256:other"}); err == nil {
		t.Error("an approval of another envelope was taken")
	}
	r, err := coder.Approve(client.WithPerson(ctx, "ann"), sent.Handoff, client.ApproveInput{Digest: sent.Envelope})
	if err != nil || r.Stage != client.StageOffered {
		t.Errorf("the handoff is %s, %v", r.Stage, err)
	}
}

func TestAPersonAtAClientIsWhomTheTokenNamesAndDoesNothingElse(t *testing.T) {
	h := open(t, httpapi.Options{})
	coder := h.atClient("coder", "ann")
	plain, _ := h.agent("plain")
	ctx := t.Context()
	made, err := coder.CreateTask(ctx, client.CreateInput{Intent: "Move the data", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := coder.Ask(ctx, made.Task, client.AskInput{Epoch: made.Epoch, Question: "Which copy?"})
	if err != nil {
		t.Fatal(err)
	}
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
