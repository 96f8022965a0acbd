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

// ConfirmInput lets go of a task that was accepted.
type ConfirmInput struct {
	Handoff string            `json:"handoff,omitempty" doc:"Id of the handoff."`
	Epoch   uint64            `json:"epoch,omitempty" doc:"The task's epoch as you know it."`
	Content envelopes.Content `json:"content,omitzero" doc:"Last notes: they become an envelope that follows the accepted one."`
}

// Confirm lets go: the third message of the handshake, by the source of a handoff with explicit confirm. The fourth,
// that ownership has moved, follows in the same entry.
func (ts *Tasks) Confirm(ctx context.Context, c caller.Caller, in ConfirmInput) (taskstore.Receipt, error) {
	taskID, n, err := event.ParseHandoffID(in.Handoff)
	if err == nil {
		err = in.Content.Check()
	}
	if err != nil {
		return taskstore.Receipt{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "confirm", in.Handoff, err)
	}
	return ts.store.ChangeWith(ctx, c, "confirm", taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		cmd := handoff.Confirm{By: c.Principal, Epoch: in.Epoch, Handoff: n}
		if h := t.InFlight(); h != nil && !in.Content.IsZero() {
			if _, err := handoff.Decide(t, cmd, now); err != nil { // whatever it says
				return nil, err
			}
			head := envelope.Header{
				HandoffID: h.ID(t.ID), From: h.From, By: envelopes.AskedBy(c, h.By, t), To: []string{h.Receiver}, Reason: h.Reason, Detail: h.Detail,
				Kind: h.Kind, Permissions: h.Permits,
			}
			said := in.Content
			if h.Kind == event.Cold {
				said.Again = h.Envelope // which the task's does not follow
			}
			sealed, doc, err := ts.sealer.Compose(ctx, c, t, head, said, now)
			if err != nil {
				return nil, err
			}
			if _, _, err := ts.sealer.Fitting(ctx, c.Workspace, &sealed, doc, event.Named(h.Receiver), h.Pack); err != nil {
				return nil, err // the receiver would own what it cannot read
			}
			cmd.Envelope = sealed
		}
		return handoff.Decide(t, cmd, now)
	})
}
