package tasks

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// ShareInput gives a task's context to another agent without moving the task.
type ShareInput struct {
	Task    string            `json:"task,omitempty" doc:"Id of the task."`
	Epoch   uint64            `json:"epoch,omitempty" doc:"The task's epoch as you know it."`
	To      string            `json:"to" doc:"The agent that gets it."`
	Detail  string            `json:"detail,omitempty" doc:"Why."`
	Content envelopes.Content `json:"content,omitzero"`
	Pack    event.Pack        `json:"pack,omitzero" doc:"How what is shared is packed for the receiver."`
}

// Share gives a sealed envelope to another agent. Ownership stays where it is.
func (ts *Tasks) Share(ctx context.Context, c caller.Caller, in ShareInput) (taskstore.Receipt, error) {
	return ts.store.ChangeWith(ctx, c, "share", in.Task, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		if err := in.Content.Check(); err != nil {
			return nil, err
		}
		if err := envelopes.CheckPack(in.Pack); err != nil {
			return nil, err
		}
		if err := handoff.MayShare(t, c.Principal, in.Epoch); err != nil { // to any agent
			return nil, err
		}
		to, err := ts.agentStore.Find(ctx, c.Workspace, in.To, false)
		if err != nil {
			return nil, err
		}
		if !to.Exists() {
			return nil, ts.agentStore.Unknown(ctx, c.Workspace, in.To)
		}
		sealed, doc, err := ts.sealer.Compose(ctx, c, t, envelope.Header{From: event.Bare(t.Source()), By: envelopes.AskedBy(c, "", t), To: []string{to.Name}, Detail: in.Detail}, in.Content, now)
		if err != nil {
			return nil, err
		}
		if err := envelopes.CheckPins(doc, in.Pack); err != nil {
			return nil, err
		}
		if _, _, err := ts.sealer.Fitting(ctx, c.Workspace, &sealed, doc, event.Named(to.Name), in.Pack); err != nil {
			return nil, err
		}
		return handoff.Decide(t, handoff.Share{By: c.Principal, Epoch: in.Epoch, To: to.Name, Detail: in.Detail, Envelope: sealed, Pack: in.Pack}, now)
	})
}
