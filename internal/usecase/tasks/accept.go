package tasks

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/content/fetchcall"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// AcceptInput takes an offer.
type AcceptInput struct {
	Handoff string `json:"handoff,omitempty" doc:"Id of the handoff."`
	Offer   int    `json:"offer,omitempty" minimum:"0" doc:"Number of the offer; one that is over is refused. Left out: the newest."`
	Render  bool   `json:"render,omitempty" doc:"Also give the envelope as a prompt."`

	// Via is how the reader came. It changes nothing but the prompt.
	Via fetchcall.Via `json:"via,omitempty" doc:"With render: how the reader came. The prompt names the call that fetches what was left out in this form; http if omitted."`
}

// Accepted is a receipt and the content that comes with ownership. With an explicit confirm the receiver gets the
// content when the source has let go.
type Accepted struct {
	taskstore.Receipt
	Content *envelopes.Sheet `json:"content,omitempty"`
}

// Accept takes an open offer: the second message of the handshake. With automatic confirm the caller owns the task
// when this returns, and has its content. The entry of the acceptance is the record that the content was read.
func (ts *Tasks) Accept(ctx context.Context, c caller.Caller, in AcceptInput) (Accepted, error) {
	taskID, n, err := event.ParseHandoffID(in.Handoff)
	if err == nil {
		err = byAgent(c)
	}
	if err != nil {
		return Accepted{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "accept", in.Handoff, err)
	}
	r, err := ts.store.ChangeWith(ctx, c, "accept", taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		return ts.decideAccept(ctx, c, t, handoff.Accept{By: c.Principal, Handoff: n, Offer: in.Offer}, now)
	})
	if err != nil || r.Stage != event.Transferred {
		return Accepted{Receipt: r}, err
	}
	sheet, err := ts.sealer.Sheet(ctx, c.Workspace, taskID, envelopes.Given(r.Given, r.Envelope), in.Render, in.Via)
	if err != nil { // the task is the caller's all the same: it can fetch the content by itself
		return Accepted{Receipt: r}, nil //nolint:nilerr // see above
	}
	return Accepted{Receipt: r, Content: sheet}, nil
}

// byAgent refuses a caller who is no agent, and has no offers.
func byAgent(c caller.Caller) error {
	if c.Agent() != "" {
		return nil
	}
	return refusal.New(refusal.NotPermitted, "[use the token of the agent](act as) that has the offer", "%s is not an agent", c.Short())
}

// decideAccept accepts and, where that brings the content, seals what the receiver gets of it in the same entry.
func (ts *Tasks) decideAccept(ctx context.Context, c caller.Caller, t task.Task, cmd handoff.Accept, now time.Time) ([]event.Event, error) {
	events, err := handoff.Decide(t, cmd, now)
	if err != nil || t.Handoff.Confirm == event.ConfirmExplicit {
		return events, err
	}
	rendered, err := ts.sealer.Offered(ctx, c.Workspace, t, c.Agent())
	if err != nil || rendered == nil {
		return events, err
	}
	more, err := handoff.Decide(task.FoldAll(t, events), handoff.Render{By: c.Principal, Handoff: t.Handoff.N, Agent: c.Agent(), Rendition: *rendered}, now)
	return append(events, more...), err
}
