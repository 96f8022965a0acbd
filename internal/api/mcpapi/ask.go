package mcpapi

import (
	"cmp"
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/taskext"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type askInput struct {
	Task     string        `json:"task" jsonschema:"a task you own"`
	Question string        `json:"question"`
	Options  argument.List `json:"options,omitempty" jsonschema:"allowed answers"`
	To       string        `json:"to,omitempty" jsonschema:"an agent or person; default: the operators"`
	Desk     string        `json:"desk,omitempty" jsonschema:"instead of to: a desk (group of people)"`
	Wait     int           `json:"wait,omitempty" jsonschema:"seconds to wait for the answer, at most 50"`
	Epoch    uint64        `json:"epoch,omitempty"`
	Key      string        `json:"key,omitempty"`
}

type askAnswer struct {
	receipt
	Answer string `json:"answer,omitempty"`
	By     string `json:"by,omitempty"`
}

var askTool = define[askInput, askAnswer]("ask", "Ask a person", tool.Changes,
	"Ask a person (or an agent) a question about a task you own. Returns a ticket at once. You keep the task; it waits for the answer. "+
		"Do not block on it: {inbox} tells you when it is answered.",
	func(ctx context.Context, c *call, in askInput) (answer, error) {
		if in.Wait < 0 || in.Wait > maxWait {
			return answer{}, invalid("wait is %d; use 0 to %d seconds", in.Wait, maxWait)
		}
		about, said, err := c.earlier()
		if err != nil {
			return answer{}, err
		}
		if said != nil {
			return c.takeAnswer(ctx, about.ID, said)
		}
		epoch, err := c.Session.Epoch(ctx, in.Task, in.Epoch)
		if err != nil {
			return answer{}, err
		}
		r, err := c.Ask(tool.Keyed(ctx, in.Key), in.Task, client.AskInput{Epoch: epoch, Question: in.Question, Options: in.Options, Desk: in.Desk, To: in.To})
		if err != nil {
			return answer{}, err
		}
		if c.Person != "" && c.canAsk() {
			k, err := c.Ticket(ctx, r.Ticket, 0)
			if err != nil {
				return answer{}, err
			}
			if forPerson(c.Person, k) {
				return c.askHere(ctx, k)
			}
		}
		return c.waitAnswer(ctx, r, in)
	})

// askHere asks the user of the client the question of a ticket.
func (c *call) askHere(ctx context.Context, k client.Ticket) (answer, error) {
	defer c.Alive(ctx, "asking the user of the client")()
	said, need, err := c.elicit(ctx, questionOf(k))
	if need != nil {
		return answer{Need: need}, nil
	}
	if err != nil {
		return c.ticketNow(ctx, k.ID)
	}
	return c.takeAnswer(ctx, k.ID, said)
}

// takeAnswer records the answer of the user of the client. If another person answered first, that answer counts.
func (c *call) takeAnswer(ctx context.Context, ticket string, said *mcp.ElicitResult) (answer, error) {
	if text, ok := saidBy(said, "answer"); ok {
		_, err := c.Answer(c.asPerson(ctx, ticket), ticket, client.AnswerInput{Answer: text})
		if err != nil && !errors.Is(err, client.Expired) && !errors.Is(err, client.Conflict) {
			return answer{}, err
		}
	}
	return c.ticketNow(ctx, ticket)
}

// ticketNow reads a ticket and returns its state.
func (c *call) ticketNow(ctx context.Context, ticket string) (answer, error) {
	k, err := c.Ticket(ctx, ticket, 0)
	if err != nil {
		return answer{}, err
	}
	return c.showTicket(ctx, k)
}

func (c *call) showTicket(ctx context.Context, k client.Ticket) (answer, error) {
	t, err := c.Task(ctx, k.Task)
	if err != nil {
		return answer{}, err
	}
	out := askAnswer{receipt: receipt{Task: t.ID, State: t.State, Owner: t.Owner, Epoch: t.Epoch, Ticket: k.ID}, Answer: k.Answer, By: k.ClosedBy}
	out.Next = "continue the task"
	if !k.Open() && t.Ticket != nil && t.Ticket.ID == k.ID && t.State == client.Executing {
		// The answer is delivered. If the record cannot say so now, the inbox has an item more.
		_, _ = c.Told(client.WithKey(ctx, ""), t.ID, t.Epoch)
	}
	if k.Open() {
		out.Next = c.Say("do other work: {inbox} tells you when it is answered; {status} with id=%s shows the answer", k.ID)
	}
	return answer{Text: show.TicketText(k) + "\nNext: " + out.Next, Data: out}, nil
}

// waitAnswer waits for the answer to a question for as long as the caller asked for. If none comes in time, it returns the ticket.
func (c *call) waitAnswer(ctx context.Context, r client.Receipt, in askInput) (answer, error) {
	wait := in.Wait
	if wait > 0 && !taskext.Later(ctx, r.Ticket) {
		defer c.Alive(ctx, "waiting for an answer")()
		k, err := c.WaitTicket(ctx, r.Ticket, wait)
		if err == nil && !k.Open() { // otherwise the question stays open, and the ticket is the answer
			return c.showTicket(ctx, k)
		}
	}
	next := c.Say("do other work: {inbox} tells you when it is answered; {status} with id=%s shows the answer", r.Ticket)
	a := tool.Told(r, "The question was sent to "+cmp.Or(in.To, "people")+" as ticket "+r.Ticket+".", next)
	a.Data = askAnswer{receipt: tool.ReceiptOf(r, next)}
	return a, nil
}
