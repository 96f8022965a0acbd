package app

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/envelope"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/refusal"
)

// ShareInput gives a task's context to another agent without moving the task.
type ShareInput struct {
	Task    string  `json:"task,omitempty" doc:"Id of the task."`
	Epoch   uint64  `json:"epoch,omitempty" doc:"The task's epoch as you know it."`
	To      string  `json:"to" doc:"The agent that gets it."`
	Detail  string  `json:"detail,omitempty" doc:"Why."`
	Content Content `json:"content,omitzero"`
}

// Share gives a sealed envelope to another agent. Ownership stays where it is.
func (a *App) Share(ctx context.Context, c Caller, in ShareInput) (Receipt, error) {
	if err := in.Content.checkData(); err != nil {
		return Receipt{}, a.access.Refused(ctx, c.Who(), "share", in.Task, err)
	}
	return a.changeWith(ctx, c, "share", in.Task, in, func(t handoff.Task, now time.Time) ([]fact.Event, error) {
		to, err := a.Known(ctx, c.Workspace, in.To, false)
		if err != nil {
			return nil, err
		}
		if !to.Exists() {
			return nil, refusal.New(refusal.NotFound, "list the agents to see who there is", "there is no agent %.80q", in.To)
		}
		sealed, err := a.compose(ctx, c.Workspace, t, envelope.Header{From: t.Source(), To: []string{in.To}, Detail: in.Detail}, in.Content, now)
		if err != nil {
			return nil, err
		}
		return handoff.Decide(t, handoff.ShareEnvelope{By: c.By(), Epoch: in.Epoch, To: in.To, Detail: in.Detail, Envelope: sealed}, now)
	})
}

// readShare gives what was shared, and notes that it was read.
func (a *App) readShare(ctx context.Context, c Caller, task string, n int, render bool) (Sheet, error) {
	t, err := a.taskFor(ctx, c, task)
	if err != nil {
		return Sheet{}, err
	}
	for _, s := range t.Shares {
		if s.N != n || (s.To != c.Agent() && c.Agent() != "") {
			continue
		}
		if err := a.access.Read(ctx, c.Who(), task, fact.ShareID(task, n), s.Envelope); err != nil {
			return Sheet{}, err
		}
		if s.To == c.Agent() && !s.Read {
			_, err := a.change(ctx, c.WithKey(""), "read-share", task, nil, handoff.ReadShare{By: c.By(), Share: n})
			if err != nil {
				return Sheet{}, err
			}
		}
		sheet, err := a.sheet(ctx, c.Workspace, task, s.Envelope, render)
		if err != nil {
			return Sheet{}, err
		}
		return *sheet, nil
	}
	return Sheet{}, refusal.New(refusal.NotFound, "look into your inbox", "nothing is shared with you under %s", fact.ShareID(task, n))
}
