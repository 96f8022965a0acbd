package tasks

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// ShareInput gives a task's context to another agent without moving the task.
type ShareInput struct {
	Task    string     `json:"task,omitempty" doc:"Id of the task."`
	Epoch   uint64     `json:"epoch,omitempty" doc:"The task's epoch as you know it."`
	To      string     `json:"to" doc:"The agent that gets it."`
	Detail  string     `json:"detail,omitempty" doc:"Why."`
	Content Content    `json:"content,omitzero"`
	Pack    event.Pack `json:"pack,omitzero" doc:"How what is shared is packed for the receiver."`
}

// Share gives a sealed envelope to another agent. Ownership stays where it is.
func (a *App) Share(ctx context.Context, c Caller, in ShareInput) (taskstore.Receipt, error) {
	return a.tasks.ChangeWith(ctx, c, "share", in.Task, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		if err := in.Content.Check(); err != nil {
			return nil, err
		}
		if err := envelopes.CheckPack(in.Pack); err != nil {
			return nil, err
		}
		to, err := a.Known(ctx, c.Workspace, in.To, false)
		if err != nil {
			return nil, err
		}
		if !to.Exists() {
			return nil, refusal.New(refusal.NotFound, "list the agents to see who there is", "there is no agent %.80q", in.To)
		}
		sealed, doc, err := a.sealer.Compose(ctx, c, t, envelope.Header{From: t.Source(), To: []string{in.To}, Detail: in.Detail}, in.Content, now)
		if err != nil {
			return nil, err
		}
		if err := envelopes.CheckPins(doc, in.Pack); err != nil {
			return nil, err
		}
		if _, _, err := a.sealer.Fitting(ctx, c.Workspace, sealed.Digest, doc, event.Named(in.To), in.Pack); err != nil {
			return nil, err
		}
		return handoff.Decide(t, handoff.Share{By: c.Principal, Epoch: in.Epoch, To: in.To, Detail: in.Detail, Envelope: sealed, Pack: in.Pack}, now)
	})
}

// readShare gives what was shared, packed for who it was shared with, and notes that it was read.
func (a *App) readShare(ctx context.Context, c Caller, taskID string, n int, in ContentInput) (Sheet, error) {
	t, err := a.tasks.For(ctx, c, taskID)
	if err != nil {
		return Sheet{}, err
	}
	i := slices.IndexFunc(t.Shares, func(s task.Share) bool { return s.N == n && (s.To == c.Agent() || c.Agent() == "") })
	if i < 0 {
		return Sheet{}, refusal.New(refusal.NotFound, "check your inbox", "nothing is shared with you under %s", event.ShareID(taskID, n))
	}
	s := t.Shares[i]
	if s.To != c.Agent() {
		return a.readSheet(ctx, c, taskID, s.Envelope, in)
	}
	digest, err := a.takeShare(ctx, c, t.Task, s)
	if err != nil {
		return Sheet{}, err
	}
	return a.readSheet(ctx, c, taskID, digest, in)
}

// takeShare notes that what was shared is read, and seals what its receiver gets of it. It returns the digest of that.
func (a *App) takeShare(ctx context.Context, c Caller, t task.Task, s task.Share) (string, error) {
	if s.Read {
		return cmp.Or(s.Rendition, s.Envelope), nil
	}
	out, err := a.tasks.Decide(ctx, c.WithKey(""), "read-share", t.ID, nil, func(t task.Task, now time.Time) ([]event.Event, error) {
		rendered, err := a.sealer.Rendition(ctx, c.Workspace, t, s.Envelope, c.Agent(), s.Pack, false)
		if err != nil {
			return nil, err
		}
		cmd := handoff.Sequence{handoff.ReadShare{By: c.Principal, Share: s.N}}
		if rendered != nil {
			cmd = append(cmd, handoff.Render{By: c.Principal, Share: s.N, Agent: c.Agent(), Rendition: *rendered})
		}
		return handoff.Decide(t, cmd, now)
	})
	if err != nil {
		return "", err
	}
	for _, now := range out.State.Shares { // who else asked at the same time may have had it packed
		if now.N == s.N {
			s = now
		}
	}
	return cmp.Or(s.Rendition, s.Envelope), nil
}
