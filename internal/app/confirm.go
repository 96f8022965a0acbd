package app

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/envelope"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
)

// ConfirmInput lets go of a task that was accepted.
type ConfirmInput struct {
	Handoff string  `json:"handoff,omitempty" doc:"Id of the handoff."`
	Epoch   uint64  `json:"epoch,omitempty" doc:"The task's epoch as you know it."`
	Content Content `json:"content,omitzero" doc:"Last notes: they become an envelope that follows the accepted one."`
}

// Confirm lets go: the third message of the handshake, by the source of a handoff with explicit confirm. The fourth,
// that ownership has moved, follows in the same entry.
func (a *App) Confirm(ctx context.Context, c Caller, in ConfirmInput) (docket.Receipt, error) {
	task, n, err := fact.ParseHandoffID(in.Handoff)
	if err == nil {
		err = in.Content.Check()
	}
	if err != nil {
		return docket.Receipt{}, a.access.Refused(ctx, c.Who(), "confirm", in.Handoff, err)
	}
	return a.tasks.ChangeWith(ctx, c, "confirm", task, in, func(t custody.Task, now time.Time) ([]fact.Event, error) {
		cmd := handoff.Confirm{By: c.By(), Epoch: in.Epoch, Handoff: n}
		if h := t.InFlight(); h != nil && !in.Content.IsZero() {
			head := envelope.Header{
				HandoffID: h.ID(t.ID), From: h.From, To: []string{h.Receiver}, Reason: h.Reason, Detail: h.Detail,
				Kind: h.Kind, Permissions: h.Permits,
			}
			sealed, doc, err := a.sealer.Compose(ctx, c, t, head, in.Content, now)
			if err != nil {
				return nil, err
			}
			cmd.Envelope = sealed
			if _, _, err := a.sealer.Fitting(ctx, c.Workspace, sealed.Digest, doc, fact.Named(h.Receiver), h.Pack); err != nil {
				return nil, err // the receiver would own what it cannot read
			}
		}
		return handoff.Decide(t, cmd, now)
	})
}
