package mcpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/fit"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/resource"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type acceptInput struct {
	Handoff   string               `json:"handoff,omitempty" jsonschema:"id of an offer in your inbox"`
	Takeover  string               `json:"takeover,omitempty" jsonschema:"instead: id of a task to request from its owner"`
	Detail    string               `json:"detail,omitempty" jsonschema:"with takeover: why"`
	From      string               `json:"from,omitempty" set:"all" jsonschema:"with takeover: its owner as you know it; refused if it has another"`
	To        string               `json:"to,omitempty" set:"all" jsonschema:"with takeover, for operators: the agent that gets the task"`
	Ask       string               `json:"ask,omitempty" set:"all" jsonschema:"with takeover, for operators: what the agent must accomplish, in place of what was asked"`
	Questions argument.Restriction `json:"questions,omitempty" set:"all" jsonschema:"with takeover, for operators: open questions in place of the earlier ones; none: all are answered"`
	Key       string               `json:"key,omitempty"`
}

var acceptTool = defineText[acceptInput]("accept", "Accept a task", tool.Changes,
	"Accept an offer: you own the task, and the answer has the context to work from. Or ask the owner of a task to hand it to you (takeover).",
	func(ctx context.Context, c *call, in acceptInput) (answer, error) {
		switch {
		case (in.Handoff == "") == (in.Takeover == ""):
			return answer{}, c.Invalid("{accept} needs handoff (id of an offer in your inbox) or takeover (a task id)")
		case (in.From+in.To+in.Ask != "" || in.Questions.Values() != nil) && in.Takeover == "":
			return answer{}, invalid("from, to, ask and questions are for takeover only: omit them when you accept an offer")
		case in.Detail != "" && in.Takeover == "":
			return answer{}, invalid("detail is for takeover only: omit it when you accept an offer")
		case in.Takeover != "":
			return c.takeOver(ctx, in)
		}
		if in.Handoff == taskOf(in.Handoff) {
			if a, ok := c.ownedBefore(ctx, in.Handoff); ok {
				return a, nil
			}
		}
		in.Handoff = c.handoffOf(ctx, in.Handoff)
		r, err := c.Accept(tool.Keyed(ctx, in.Key), in.Handoff, client.AcceptInput{Render: true, Via: client.ViaMCP})
		if errors.Is(err, client.Expired) {
			if a, ok := c.ownedBefore(ctx, in.Handoff); ok {
				return a, nil
			}
		}
		if err != nil {
			return answer{}, err
		}
		if r.Content == nil {
			next := c.Say("{status} with id=%s, wait=45, after=%d shows when it does; then call {accept} again to get the context", r.Task, r.Position)
			return taken(r.Receipt, "You accepted; the sender must still confirm.", next), nil
		}
		return c.owned(ctx, r.Receipt, *r.Content), nil
	})

// takeOver asks the owner of a task to hand it over, or the requester of a task that nobody owns. If the owner is lost, the caller gets the task at once.
func (c *call) takeOver(ctx context.Context, in acceptInput) (answer, error) {
	me, err := c.Me(ctx)
	if err != nil {
		return answer{}, err
	}
	r, err := c.Takeover(tool.Keyed(ctx, in.Key), in.Takeover, client.TakeoverInput{
		To: in.To, From: in.From, Detail: in.Detail, Content: client.Content{Ask: in.Ask, Questions: in.Questions.Values()},
	})
	if err != nil {
		return answer{}, err
	}
	if me.Agent == "" {
		return taken(r, "The task was taken from its owner.", c.Say("{status} with id=%s shows who accepts it", r.Task)), nil
	}
	if r.Owner == me.Agent {
		return c.tookOver(ctx, r, r.Handoff)
	}
	c.Session.AskedFor(r.Task)
	who := "owner"
	if r.Owner == "" {
		who = "requester" // nobody owns the task
	}
	next := c.Say("if the "+who+" agrees, you own the task: only then does {status} with id=%s show it; call {accept} with the handoff that {status} names to get the context", r.Task)
	if r.State == client.Waiting {
		next += ". It waits for people or child tasks now, and cannot be handed over before it resumes"
	}
	return taken(r, "The "+who+" was asked.", next), nil
}

// ownedBefore answers a caller that owns a task which it names by its id, or by that of the handoff by which it got the task: it gets the context
// again. It accepted before and lost the answer, or resumes the task.
func (c *call) ownedBefore(ctx context.Context, id string) (answer, bool) {
	me, err := c.Me(ctx)
	t, unseen := c.Task(ctx, taskOf(id))
	if err != nil || unseen != nil || me.Agent == "" || t.Owner != me.Agent {
		return answer{}, false
	}
	r := client.Receipt{Task: t.ID, State: t.State, Owner: t.Owner, Epoch: t.Epoch, Repeat: true}
	if t.Handoff != nil && t.Handoff.Receiver == me.Agent {
		r.Handoff, r.Stage = t.Handoff.ID, t.Handoff.Stage
	}
	if id != r.Handoff && (id != t.ID || t.State == client.HandingOff) {
		return answer{}, false
	}
	s, err := c.Content(ctx, cmp.Or(r.Handoff, t.ID), client.ContentInput{Render: true, Via: client.ViaMCP})
	if err != nil {
		return answer{}, false
	}
	return c.owned(ctx, r, s), true
}

// owned answers the new owner of a task with the context to work from and nothing else, so that the token budget of the context
// is that of the answer. Clients that ask for links get links to what the context omits.
func (c *call) owned(ctx context.Context, r client.Receipt, s client.Sheet) answer {
	c.Session.Hold(r.Task, r.Epoch)
	a := taken(r, "", "")
	a.Text, a.Fits = fit.Prompt(ctx, c.Call, s, c.Session.Named(ctx, r.Task, r.Epoch)), true
	maps.Copy(a.Meta, show.Trace(s.Envelope))
	var left int
	if a.More, left = resource.ContentLinks(r.Task, r.Handoff, s.Envelope); left > 0 {
		text := fmt.Sprintf("%d more memory items and artifacts are in trapeze://envelope/%s", left, r.Handoff)
		a.More = append(a.More, &mcp.TextContent{Text: text})
	}
	return a
}

// taken is [tool.Told] as text alone; programs find the receipt in _meta.
func taken(r client.Receipt, did, next string) answer {
	a := tool.Told(r, did, next)
	a.Meta, a.Data = mcp.Meta{metaReceipt: a.Data}, nil
	return a
}

// handoffOf returns the id of the newest handoff of a task, where the id of the task stands for it; and any other id unchanged.
func (c *call) handoffOf(ctx context.Context, id string) string {
	if !strings.HasPrefix(id, "task_") || strings.Contains(id, ".") {
		return id
	}
	if t, err := c.Task(ctx, id); err == nil && t.Handoff != nil {
		return t.Handoff.ID
	}
	return id // refused with the reason
}
