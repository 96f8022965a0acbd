package mcpapi

import (
	"context"
	"errors"
	"fmt"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/resource"
)

type acceptInput struct {
	Handoff  string `json:"handoff,omitempty" jsonschema:"id of an offer in your inbox"`
	Takeover string `json:"takeover,omitempty" jsonschema:"instead: a task of another's that you ask to have"`
	Detail   string `json:"detail,omitempty" jsonschema:"with takeover: why"`
}

type accepted struct {
	receipt
	Context string `json:"context,omitempty"`
}

var acceptTool = define[acceptInput, accepted]("accept", "Accept a task", changes,
	"Accept an offer: the task is yours and you get its context, ready to work from. Or ask its owner for a task (takeover).",
	func(ctx context.Context, c *call, in acceptInput) (answer, error) {
		switch {
		case (in.Handoff == "") == (in.Takeover == ""):
			return answer{}, invalid("accept needs handoff (id of an offer in your inbox) or takeover (a task id)")
		case in.Detail != "" && in.Takeover == "":
			return answer{}, invalid("detail goes with takeover: an offer is accepted without a word; leave it out")
		case in.Takeover != "":
			return c.takeOver(ctx, in)
		}
		r, err := c.Accept(ctx, in.Handoff, client.AcceptInput{Render: true})
		if errors.Is(err, client.Expired) {
			if a, ok := c.acceptedBefore(ctx, in.Handoff); ok {
				return a, nil
			}
		}
		if err != nil {
			return answer{}, err
		}
		if r.Content == nil {
			return taken(r.Receipt, "You accepted; its owner must still let go.",
				fmt.Sprintf("status with id=%s, wait=45, after=%d shows it; then accept again gives the context", r.Task, r.Position), ""), nil
		}
		return owned(r.Receipt, *r.Content), nil
	})

// takeOver asks an owner for its task. Where the owner is lost, the task is the caller's at once.
func (c *call) takeOver(ctx context.Context, in acceptInput) (answer, error) {
	me, err := c.Me(ctx)
	if err != nil {
		return answer{}, err
	}
	r, err := c.Takeover(ctx, in.Takeover, client.TakeoverInput{Detail: in.Detail})
	if err != nil {
		return answer{}, err
	}
	if r.Owner == me.Agent {
		s, err := c.Content(ctx, r.Handoff, client.ContentInput{Render: true})
		if err != nil {
			return answer{}, err
		}
		return owned(r, s), nil
	}
	next := fmt.Sprintf("if it consents, you own the task: status with id=%s shows it then, and not before, and accept with the handoff that status names gives the context", r.Task)
	if r.State == client.Waiting {
		next += ". It waits for people or children now, and can be let go of only when it goes on"
	}
	return taken(r, "Its owner was asked.", next, ""), nil
}

// acceptedBefore is for who accepted and never saw the answer: what it accepted is its own, so it gets the context again.
func (c *call) acceptedBefore(ctx context.Context, handoff string) (answer, bool) {
	me, err := c.Me(ctx)
	if err != nil {
		return answer{}, false
	}
	t, err := c.Task(ctx, taskOf(handoff))
	if err != nil || t.Owner != me.Agent || t.Handoff == nil || t.Handoff.ID != handoff {
		return answer{}, false
	}
	s, err := c.Content(ctx, handoff, client.ContentInput{Render: true})
	if err != nil {
		return answer{}, false
	}
	r := client.Receipt{Task: t.ID, State: t.State, Owner: t.Owner, Epoch: t.Epoch, Handoff: handoff, Stage: t.Handoff.Stage, Repeat: true}
	return owned(r, s), true
}

// owned is what whoever has just got a task works from, and where to read what that leaves out.
func owned(r client.Receipt, s client.Sheet) answer {
	a := taken(r, "The task is yours.", "do what the context asks; progress on long work; then complete, send or escalate", s.Prompt)
	var left int
	if a.more, left = resource.ContentLinks(r.Task, r.Handoff, s.Envelope); left > 0 {
		a.text += fmt.Sprintf("\n\n%d more memory items and artifacts are in trapeze://envelope/%s", left, r.Handoff)
	}
	return a
}

func taken(r client.Receipt, did, next, prompt string) answer {
	a := told(r, did, next)
	if prompt != "" {
		a.text += "\n\n" + prompt
	}
	a.data = accepted{receiptOf(r, next), prompt}
	return a
}
