package app

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/caller"
	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/envelope"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
)

// ApproveInput says yes: to a supervised handoff, as its approver; or to an ask to take over, as the task's source.
type ApproveInput struct {
	ID     string `json:"id,omitempty" doc:"Of the handoff or of the ask to take over."`
	Epoch  uint64 `json:"epoch,omitempty" doc:"For an ask: the task's epoch as you know it."`
	Digest string `json:"digest,omitempty" doc:"For a handoff: of the envelope that you looked at; refused if it carries another."`
	Detail string `json:"detail,omitempty" doc:"In words."`
}

// Approve lets a supervised handoff go on to its receivers, or gives a task to the agent that asked for it.
func (a *App) Approve(ctx context.Context, c Caller, in ApproveInput) (docket.Receipt, error) {
	if task, n, err := fact.ParseAskID(in.ID); err == nil {
		return a.grant(ctx, c, task, n, in)
	}
	task, n, err := fact.ParseHandoffID(in.ID)
	if err != nil {
		return docket.Receipt{}, a.access.Refused(ctx, c.Who(), "approve", in.ID, err)
	}
	return a.tasks.ChangeWith(ctx, c, "approve", task, in, func(t custody.Task, now time.Time) ([]fact.Event, error) {
		return a.withHints(ctx, c.Workspace, t, now, func(hints handoff.Hints) handoff.Command {
			return handoff.Approve{By: c.By(), Handoff: n, Digest: in.Digest, Detail: in.Detail, Hints: hints}
		})
	})
}

func (a *App) grant(ctx context.Context, c Caller, task string, n int, in ApproveInput) (docket.Receipt, error) {
	return a.tasks.ChangeWith(ctx, c, "approve", task, in, func(t custody.Task, now time.Time) ([]fact.Event, error) {
		cmd := handoff.GrantTakeover{By: c.By(), Epoch: in.Epoch, Ask: n}
		for _, ask := range t.Asks {
			if ask.N == n {
				var err error
				if cmd.Envelope, err = a.handover(ctx, c.Workspace, t, ask.By, fact.ReasonUserRequest, ask.Detail, now); err != nil {
					return nil, err
				}
			}
		}
		return handoff.Decide(t, cmd, now)
	})
}

// handover seals what the next owner needs where the present one writes nothing: the last envelope, brought up to
// date with progress.
func (a *App) handover(ctx context.Context, workspace string, t custody.Task, to string, reason fact.Reason, detail string, now time.Time) (fact.Sealed, error) {
	h := envelope.Header{
		HandoffID: nextHandoffID(t), From: t.Source(), Reason: reason, Detail: detail, Kind: fact.Warm, TimeoutSeconds: seconds(t.Times.Ack),
	}
	if to != "" {
		h.To = []string{to}
	}
	sealed, _, err := a.sealer.Compose(ctx, caller.System(workspace, "courier"), t, h, Content{}, now)
	return sealed, err
}

// DenyInput says no.
type DenyInput struct {
	ID     string `json:"id,omitempty" doc:"Of the handoff or of the ask to take over."`
	Epoch  uint64 `json:"epoch,omitempty" doc:"For an ask: the task's epoch as you know it."`
	Detail string `json:"detail,omitempty" doc:"Why."`
}

// Deny stops a supervised handoff, whose task is then back with its source, or refuses an ask to take over.
func (a *App) Deny(ctx context.Context, c Caller, in DenyInput) (docket.Receipt, error) {
	if task, n, err := fact.ParseAskID(in.ID); err == nil {
		return a.tasks.Change(ctx, c, "deny", task, in, handoff.RefuseTakeover{By: c.By(), Epoch: in.Epoch, Ask: n, Detail: in.Detail})
	}
	task, n, err := fact.ParseHandoffID(in.ID)
	if err != nil {
		return docket.Receipt{}, a.access.Refused(ctx, c.Who(), "deny", in.ID, err)
	}
	return a.tasks.Change(ctx, c, "deny", task, in, handoff.Deny{By: c.By(), Handoff: n, Detail: in.Detail})
}
