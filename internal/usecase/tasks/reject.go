package tasks

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// RejectInput turns an offer down.
type RejectInput struct {
	Handoff string          `json:"handoff,omitempty" doc:"Id of the handoff."`
	Offer   int             `json:"offer,omitempty" minimum:"0" doc:"Number of the offer. Left out: the newest."`
	Why     event.Rejection `json:"why"`
	Missing []string        `json:"missing,omitempty" doc:"With missing_context: the fields you would need."`
	Detail  string          `json:"detail,omitempty" doc:"In words."`
}

// Reject turns an offer down. It goes to the next candidate, or back to its source; it never strands the task.
func (a *App) Reject(ctx context.Context, c Caller, in RejectInput) (taskstore.Receipt, error) {
	taskID, n, err := event.ParseHandoffID(in.Handoff)
	if err != nil {
		return taskstore.Receipt{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "reject", in.Handoff, err)
	}
	return a.tasks.ChangeWith(ctx, c, "reject", taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		return a.withHints(ctx, c.Workspace, t, now, func(hints handoff.Hints) handoff.Command {
			return handoff.Reject{
				By: c.Principal, Handoff: n, Offer: in.Offer, Why: in.Why, Missing: in.Missing, Detail: in.Detail, Hints: hints,
			}
		})
	})
}

// withHints decides as if everybody could take an offer and, if that makes one, again with what is known of the
// candidates: only what is allowed, and makes an offer, is worth looking at them.
func (a *App) withHints(ctx context.Context, workspace string, t task.Task, now time.Time,
	command func(handoff.Hints) handoff.Command,
) ([]event.Event, error) {
	events, err := handoff.Decide(t, command(handoff.Hints{Jitter: a.Jitter()}), now)
	if err != nil || !slices.ContainsFunc(events, isOffer) {
		return events, err
	}
	hints, err := a.nextHints(ctx, workspace, t, now)
	if err != nil {
		return nil, err
	}
	return a.Offering(ctx, workspace, t, now, hints, command)
}

func isOffer(e event.Event) bool {
	_, is := e.(event.OfferMade)
	return is
}

// nextHints is what is known of the candidates that a handoff under way may still be offered to.
func (a *App) nextHints(ctx context.Context, workspace string, t task.Task, now time.Time) (handoff.Hints, error) {
	h := t.InFlight()
	if h == nil {
		return handoff.Hints{Jitter: a.Jitter()}, nil
	}
	from := min(h.Next, len(h.Candidates))
	if !h.RetryAt.IsZero() || h.Stage == event.AwaitingApproval {
		return a.Hints(ctx, workspace, h.Candidates[from:], now)
	}
	return a.Hints(ctx, workspace, h.Candidates[min(from+1, len(h.Candidates)):], now)
}

// GapInput says what is missing from the context.
type GapInput struct {
	Task    string   `json:"task,omitempty" doc:"Id of the task."`
	Epoch   uint64   `json:"epoch" doc:"The task's epoch as you know it."`
	Missing []string `json:"missing" minItems:"1" doc:"Names of fields, or ids of what was left out or could not be fetched."`
	Detail  string   `json:"detail,omitempty" doc:"In words."`
}

// ReportGap puts on record that the owner's context lacks something. The owner goes on working with what there is; one
// who cannot rejects the offer instead, or hands the task back.
func (a *App) ReportGap(ctx context.Context, c Caller, in GapInput) (taskstore.Receipt, error) {
	return a.tasks.Change(ctx, c, "gap", in.Task, in, handoff.ReportGap{By: c.Principal, Epoch: in.Epoch, Missing: in.Missing, Detail: in.Detail})
}
