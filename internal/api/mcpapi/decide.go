package mcpapi

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

type decideInput struct {
	ID      string `json:"id" jsonschema:"from your inbox: of a handoff, an ask, or a ticket"`
	Verdict string `json:"verdict,omitempty" enum:"confirm,approve,deny,answer,claim,release" jsonschema:"confirm: let go of what was accepted. approve, deny. answer a question. claim or release a ticket. Left out: the person at your client is asked"`
	Text    string `json:"text,omitempty" jsonschema:"the answer, or why"`
	Digest  string `json:"digest,omitempty" jsonschema:"approve: the envelope you looked at"`
	Epoch   uint64 `json:"epoch,omitempty"`
}

var decideTool = define[decideInput, receipt]("decide", "Answer what waits for your word", destroys,
	"Say yes or no to what waits for your word: a handoff to confirm or approve, an ask to take over, a question, a ticket.",
	func(ctx context.Context, c *call, in decideInput) (answer, error) {
		about, said, err := c.earlier()
		switch {
		case err != nil:
			return answer{}, err
		case said != nil:
			return c.decided(ctx, about, said)
		case in.Verdict == "":
			return c.decideHere(ctx, in.ID)
		}
		return c.decide(ctx, in)
	})

// decide gives a verdict as the principal.
func (c *call) decide(ctx context.Context, in decideInput) (answer, error) {
	var r client.Receipt
	epoch, err := c.epochFor(ctx, in)
	if err != nil {
		return answer{}, err
	}
	var did string
	switch in.Verdict {
	case "confirm":
		r, err = c.Confirm(ctx, in.ID, client.ConfirmInput{Epoch: epoch, Content: client.Content{Notes: in.Text}})
		did = "You let go of it."
	case "approve":
		r, err = c.Approve(ctx, in.ID, client.ApproveInput{Epoch: epoch, Digest: in.Digest, Detail: in.Text})
		did = "Approved."
	case "deny":
		r, err = c.Deny(ctx, in.ID, client.DenyInput{Epoch: epoch, Detail: in.Text})
		did = "Denied."
	case "answer":
		r, err = c.Answer(ctx, in.ID, client.AnswerInput{Answer: in.Text})
		did = "Answered."
	case "claim":
		r, err = c.Claim(ctx, in.ID)
		if err == nil && r.State == client.Executing { // a takeover: the task is, too
			return c.tookOver(ctx, r)
		}
		did = "The ticket is yours."
	case "release":
		r, err = c.Release(ctx, in.ID, client.ReleaseInput{Epoch: epoch, Detail: in.Text})
		did = "The ticket was given back."
	default: // a client need not keep to the form that its person fills in
		return answer{}, invalid("%.40q is no verdict; use one of: confirm, approve, deny, answer, claim, release", in.Verdict)
	}
	if err != nil {
		return answer{}, err
	}
	return told(r, did, ""), nil
}

// tookOver is what whoever has taken a task from a desk works from.
func (c *call) tookOver(ctx context.Context, r client.Receipt) (answer, error) {
	s, err := c.Content(ctx, r.Task, client.ContentInput{Render: true})
	if err != nil {
		return answer{}, err
	}
	a := told(r, "The task is yours.", "do what the context asks; then complete, send or escalate; decide with verdict release gives it back")
	a.text += "\n\n" + s.Prompt
	return a, nil
}

// epochFor is the epoch of a verdict that needs one: those that an owner gives on what is its own.
func (c *call) epochFor(ctx context.Context, in decideInput) (uint64, error) {
	owner := in.Verdict == "confirm" || in.Verdict == "release" || strings.Contains(in.ID, ".t") || in.Verdict == "deny" && isTicket(in.ID)
	if !owner {
		return in.Epoch, nil
	}
	epoch, err := c.epochOf(ctx, taskOf(in.ID), in.Epoch)
	if errors.Is(err, client.NotFound) { // a ticket may be seen by those who do not see its task
		return in.Epoch, nil
	}
	return epoch, err
}

// decideHere has the person at the client decide, as the principal that the client speaks for.
func (c *call) decideHere(ctx context.Context, id string) (answer, error) {
	if !c.canAsk() {
		return answer{}, invalid("decide needs verdict: your client cannot ask the person before it")
	}
	q, err := c.waiting(ctx, id)
	if err != nil {
		return answer{}, err
	}
	defer c.alive(ctx, "asking the person at the client")()
	said, need, err := c.elicit(ctx, q)
	if need != nil {
		return answer{need: need}, nil
	}
	if err != nil {
		return answer{}, &client.Error{Code: client.Unavailable, Message: "nobody answered at your client", Hint: "call decide again, or give a verdict; what waits for it waits on"}
	}
	return c.decided(ctx, ticketState{ID: q.id, Digest: q.digest}, said)
}

// waiting is what waits for a word, as a form.
func (c *call) waiting(ctx context.Context, id string) (question, error) {
	if strings.Contains(id, ".k") {
		k, err := c.Ticket(ctx, id, 0)
		if err != nil {
			return question{}, err
		}
		if k.Kind == "question" {
			return questionOf(k), nil
		}
		return approvalOf(id, k.Envelope, k.Kind+" of \""+clip(oneLine(k.Intent), 300)+"\", asked by "+k.By+".\n"+k.Question), nil
	}
	box, err := c.Inbox(ctx, client.InboxOptions{Peek: true, Limit: 500})
	if err != nil {
		return question{}, err
	}
	for _, i := range box.Items {
		if i.ID == id {
			return approvalOf(id, i.Envelope, i.Type+" of \""+clip(oneLine(i.Intent), 300)+"\", asked by "+i.From+".\n"+i.Detail), nil
		}
	}
	return question{}, &client.Error{Code: client.NotFound, Message: clip(id, 80) + " does not wait for your word", Hint: "inbox lists what does"}
}

// decided does what the person said.
func (c *call) decided(ctx context.Context, about ticketState, said *mcp.ElicitResult) (answer, error) {
	in := decideInput{ID: about.ID, Digest: about.Digest}
	if text, ok := saidBy(said, "answer"); ok {
		in.Verdict, in.Text = "answer", text
	} else if verdict, ok := saidBy(said, "verdict"); ok {
		in.Verdict = verdict
		in.Text, _ = saidBy(said, "why")
	} else {
		return answer{}, &client.Error{Code: client.Unavailable, Message: "the person at your client did not decide", Hint: "what waits for it waits on"}
	}
	return c.decide(client.WithKey(ctx, "at client "+about.ID), in)
}
