package app

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/trapezehq/trapeze/internal/envelope"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/refusal"
)

// AcceptInput takes an offer.
type AcceptInput struct {
	Handoff string `json:"handoff,omitempty" doc:"Id of the handoff."`
	Offer   int    `json:"offer,omitempty" minimum:"0" doc:"Number of the offer; one that is over is refused. Left out: the newest."`
	Render  bool   `json:"render,omitempty" doc:"Also give the envelope as a prompt."`
}

// Accepted is a receipt and the content that comes with ownership. With an explicit confirm the receiver gets the
// content when the source has let go.
type Accepted struct {
	Receipt
	Content *Sheet `json:"content,omitempty"`
}

// Sheet is an envelope as its receiver reads it.
type Sheet struct {
	Digest   string          `json:"digest"`
	Envelope json.RawMessage `json:"envelope"`
	Prompt   string          `json:"prompt,omitempty"`
}

// Accept takes an open offer: the second message of the handshake. With automatic confirm the caller owns the task
// when this returns, and has its content. The entry of the acceptance is the record that the content was read.
func (a *App) Accept(ctx context.Context, c Caller, in AcceptInput) (Accepted, error) {
	task, n, err := fact.ParseHandoffID(in.Handoff)
	if err != nil {
		return Accepted{}, a.access.Refused(ctx, c.Who(), "accept", in.Handoff, err)
	}
	if c.Agent() == "" {
		err := refusal.New(refusal.NotPermitted, "use the token of the agent that has the offer", "%s is not an agent", c.Principal)
		return Accepted{}, a.access.Refused(ctx, c.Who(), "accept", in.Handoff, err)
	}
	r, err := a.change(ctx, c, "accept", task, in, handoff.Accept{By: c.By(), Handoff: n, Offer: in.Offer})
	if err != nil || r.Stage != fact.Transferred {
		return Accepted{Receipt: r}, err
	}
	sheet, err := a.sheet(ctx, c.Workspace, task, r.Envelope, in.Render)
	if err != nil { // the task is the caller's all the same: it can fetch the content by itself
		return Accepted{Receipt: r}, nil //nolint:nilerr // see above
	}
	return Accepted{Receipt: r, Content: sheet}, nil
}

func (a *App) sheet(ctx context.Context, workspace, task, digest string, render bool) (*Sheet, error) {
	b, err := a.envelope(ctx, workspace, task, digest)
	if err != nil {
		return nil, err
	}
	s := &Sheet{Digest: digest, Envelope: b}
	if render {
		doc, _, err := envelope.Open(b)
		if err != nil {
			return nil, err
		}
		s.Prompt = envelope.Render(doc)
	}
	return s, nil
}

// Content gives the content of a handoff, or of what was shared, to whom it is meant for: the source, the receiver
// once the task has moved, the approver, and, unless it is a claim, the receiver of the open offer. It is on record
// before it is answered.
func (a *App) Content(ctx context.Context, c Caller, id string, render bool) (Sheet, error) {
	s, err := a.contentOf(ctx, c, id, render)
	if err != nil {
		return Sheet{}, a.access.Refused(ctx, c.Who(), "content", id, err)
	}
	return s, nil
}

func (a *App) contentOf(ctx context.Context, c Caller, id string, render bool) (Sheet, error) {
	if task, n, err := fact.ParseShareID(id); err == nil {
		return a.readShare(ctx, c, task, n, render)
	}
	taskID, n := id, 0
	if fact.CheckTaskID(id) != nil {
		var err error
		if taskID, n, err = fact.ParseHandoffID(id); err != nil {
			return Sheet{}, err
		}
	}
	t, err := a.taskFor(ctx, c, taskID)
	if err != nil {
		return Sheet{}, err
	}
	digest, err := a.contentFor(c, t.Task, n)
	if err != nil {
		return Sheet{}, err
	}
	if err := a.access.Read(ctx, c.Who(), taskID, id, digest); err != nil {
		return Sheet{}, err
	}
	sheet, err := a.sheet(ctx, c.Workspace, taskID, digest, render)
	if err != nil {
		return Sheet{}, err
	}
	return *sheet, nil
}

// contentFor is the digest of what the caller may read of a task's n-th handoff, or of the task itself where n is 0.
func (a *App) contentFor(c Caller, t handoff.Task, n int) (string, error) {
	h := t.Handoff
	if n > 0 && (h == nil || n > h.N) {
		return "", refusal.New(refusal.NotFound, "look at the task for its handoffs", "task %s has no handoff %d", t.ID, n)
	}
	if n > 0 && n < h.N {
		return "", refusal.New(refusal.Expired, "fetch the newest, or export the trail for what went before",
			"handoff %s is over; %s is the newest", fact.HandoffID(t.ID, n), h.ID(t.ID))
	}
	digest := t.Envelope
	if h != nil && !h.Stage.Final() {
		digest = h.Envelope
	}
	name := c.Agent()
	whole := name == "" || t.Owner == name || t.Requester == c.String() || (h != nil && h.Approver == name)
	if !whole && (h == nil || h.Stage != fact.Offered || h.Claim || !slices.Contains(h.To, name)) {
		return "", refusal.New(refusal.NotPermitted, "accept the offer first", "the content of task %s is for its holder", t.ID)
	}
	if digest == "" {
		return "", refusal.New(refusal.NotFound, "nothing to fetch yet", "task %s has no envelope", t.ID)
	}
	return digest, nil
}
