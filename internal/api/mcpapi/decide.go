package mcpapi

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type decideInput struct {
	ID      string `json:"id" jsonschema:"id from your inbox: of a handoff, a takeover request, or a ticket"`
	Verdict string `json:"verdict,omitempty" enum:"confirm,approve,deny,answer,claim,release" jsonschema:"confirm: give an accepted task to its receiver. approve or deny. answer: a question. claim or release: a ticket. If omitted, the user of your client is asked"`
	Text    string `json:"text,omitempty" jsonschema:"the answer, or the reason"`
	Digest  string `json:"digest,omitempty" jsonschema:"with approve: digest of the envelope you reviewed"`
	Epoch   uint64 `json:"epoch,omitempty"`
	Key     string `json:"key,omitempty"`
}

var decideTool = defineText[decideInput]("decide", "Decide a request", tool.Destroys,
	"Decide a request that waits for you: confirm or approve a handoff, approve or deny a takeover, answer a question, claim a ticket: a task handed to people is yours then, until verdict=release.",
	func(ctx context.Context, c *call, in decideInput) (answer, error) {
		about, said, err := c.earlier()
		switch {
		case err != nil:
			return answer{}, err
		case said != nil:
			return c.decided(ctx, about, said)
		}
		if in.ID, err = c.requestOf(ctx, in.ID, in.Verdict); err != nil {
			return answer{}, err
		}
		if in.Verdict == "" {
			return c.decideHere(ctx, in.ID)
		}
		return c.decide(tool.Keyed(ctx, in.Key), in)
	})

// verdicts are the verdicts on each type of item and kind of ticket that waits for a decision.
var verdicts = map[string][]string{
	"approval": {"approve", "deny"}, "confirm": {"confirm"}, "takeover": {"approve", "deny", "claim", "release"}, "question": {"answer", "deny", "claim", "release"},
}

// requestOf returns the id of the one request of a task that waits for a verdict, where the id of the task stands for it, or the id of a
// handoff for that of a ticket; and any other id unchanged. Without a verdict every request counts.
func (c *call) requestOf(ctx context.Context, id, verdict string) (string, error) {
	task := taskOf(id)
	ticket := strings.Contains(id, ".h") && slices.Contains([]string{"answer", "claim", "release"}, verdict)
	if !strings.HasPrefix(id, "task_") || id != task && !ticket {
		return id, nil
	}
	box, err := c.Inbox(ctx, client.InboxOptions{Peek: true, Limit: 500})
	if err != nil {
		return id, err
	}
	page, err := c.Tickets(ctx, client.TicketFilter{Task: task, Limit: mostTickets})
	if err != nil {
		return id, err
	}
	var waiting []string
	fits := func(request, kind string) {
		if of := verdicts[kind]; of != nil && (verdict == "" || slices.Contains(of, verdict)) && !slices.Contains(waiting, request) {
			waiting = append(waiting, request)
		}
	}
	for _, i := range box.Items {
		if i.Task == task {
			fits(i.ID, i.Type)
		}
	}
	for _, k := range page.Tickets {
		fits(k.ID, k.Kind)
	}
	switch len(waiting) {
	case 0:
		return id, nil // refused with the reason
	case 1:
		return waiting[0], nil
	}
	return id, invalid("several requests of %s wait for a decision: give the id of one of %s", task, strings.Join(waiting, ", "))
}

// decide applies a verdict as the principal of the token.
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
		did = "You confirmed: the receiver owns the task."
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
		if err == nil && r.State == client.Executing { // a ticket of the kind takeover: the task is claimed with it
			return c.tookOver(ctx, r, r.Task)
		}
		did = "You claimed the ticket."
	case "release":
		r, err = c.Release(ctx, in.ID, client.ReleaseInput{Epoch: epoch, Detail: in.Text})
		did = "The ticket was released."
	default: // a client may not enforce the form that its user fills in
		return answer{}, invalid("%.40q is not a verdict; use one of: confirm, approve, deny, answer, claim, release", in.Verdict)
	}
	return tool.Changed(r, err, did, "")
}

// tookOver answers the owner of a task that was taken from another, or claimed from a desk, as [call.owned] does. It owns the task even if the
// context of id cannot be read.
func (c *call) tookOver(ctx context.Context, r client.Receipt, id string) (answer, error) {
	c.Session.Hold(r.Task, r.Epoch)
	s, err := c.Content(ctx, id, client.ContentInput{Render: true, Via: client.ViaMCP})
	if err != nil {
		return answer{}, err
	}
	return c.owned(ctx, r, s), nil
}

// epochFor returns the epoch of a verdict. Only the verdicts of an owner on its own task need one.
func (c *call) epochFor(ctx context.Context, in decideInput) (uint64, error) {
	owner := in.Verdict == "confirm" || in.Verdict == "release" || strings.Contains(in.ID, ".t") || in.Verdict == "deny" && isTicket(in.ID)
	if !owner {
		return in.Epoch, nil
	}
	epoch, err := c.Session.Epoch(ctx, taskOf(in.ID), in.Epoch)
	if errors.Is(err, client.NotFound) { // a caller may see a ticket and not its task
		return in.Epoch, nil
	}
	return epoch, err
}

// decideHere asks the user of the client for the verdict, and applies it as the principal of the token.
func (c *call) decideHere(ctx context.Context, id string) (answer, error) {
	if !c.canAsk() {
		return answer{}, c.Invalid("{decide} needs verdict (confirm, approve, deny, answer, claim or release): your client does not support asking its user")
	}
	q, err := c.waiting(ctx, id)
	if err != nil {
		return answer{}, err
	}
	defer c.Alive(ctx, "asking the user of the client")()
	said, need, err := c.elicit(ctx, q)
	if need != nil {
		return answer{Need: need}, nil
	}
	if err != nil {
		return answer{}, &client.Error{Code: client.Unavailable, Message: "the user of your client did not answer", Hint: c.Say("call {decide} again, or give a verdict; the request stays open")}
	}
	return c.decided(ctx, ticketState{ID: q.id}, said)
}

// waiting returns a request that waits for a decision, as a form.
func (c *call) waiting(ctx context.Context, id string) (question, error) {
	if strings.Contains(id, ".k") {
		k, err := c.Ticket(ctx, id, 0)
		if err != nil {
			return question{}, err
		}
		if k.Kind == "question" {
			return questionOf(k), nil
		}
		return approvalOf(id, k.Kind+" of "+show.Line(show.Clip(k.Intent, 300))+", asked by "+k.By+".\n"+show.Quoted(k.Question)), nil
	}
	box, err := c.Inbox(ctx, client.InboxOptions{Peek: true, Limit: 500})
	if err != nil {
		return question{}, err
	}
	for _, i := range box.Items {
		if i.ID == id {
			return approvalOf(id, i.Type+" of "+show.Line(show.Clip(i.Intent, 300))+", asked by "+i.From+".\n"+show.Quoted(i.Detail)), nil
		}
	}
	return question{}, &client.Error{Code: client.NotFound, Message: show.Line(show.Clip(id, 80)) + " does not wait for your decision", Hint: c.Say("{inbox} lists the requests that do")}
}

// decided applies the verdict that the user of the client gave.
func (c *call) decided(ctx context.Context, about ticketState, said *mcp.ElicitResult) (answer, error) {
	in := decideInput{ID: about.ID}
	if text, ok := saidBy(said, "answer"); ok {
		in.Verdict, in.Text = "answer", text
	} else if verdict, ok := saidBy(said, "verdict"); ok {
		in.Verdict = verdict
		in.Text, _ = saidBy(said, "why")
	} else {
		return answer{}, &client.Error{Code: client.Unavailable, Message: "the user of your client did not decide", Hint: c.Say("the request stays open: call {decide} again, or give a verdict")}
	}
	return c.decide(client.WithKey(ctx, "at client "+about.ID), in)
}
