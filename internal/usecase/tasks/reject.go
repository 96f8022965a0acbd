package tasks

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// RejectInput turns an offer down.
type RejectInput struct {
	Handoff string          `json:"handoff,omitempty" doc:"Id of the handoff."`
	Offer   int             `json:"offer,omitempty" minimum:"0" doc:"Number of the offer. Left out: the newest."`
	Reason  event.Rejection `json:"reason"`
	Missing []string        `json:"missing,omitempty" doc:"With missing_context: the fields you would need."`
	Detail  string          `json:"detail,omitempty" doc:"In words."`
}

// Reject turns an offer down. It goes to the next candidate, or back to its source; it never strands the task.
func (ts *Tasks) Reject(ctx context.Context, c caller.Caller, in RejectInput) (taskstore.Receipt, error) {
	taskID, n, err := event.ParseHandoffID(in.Handoff)
	if err == nil {
		err = byAgent(c)
	}
	if err != nil {
		return taskstore.Receipt{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "reject", in.Handoff, err)
	}
	return ts.store.ChangeWith(ctx, c, "reject", taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		return ts.routes.OfferNext(ctx, c.Workspace, t, now, func(hints handoff.Hints) handoff.Command {
			return handoff.Reject{
				By: c.Principal, Handoff: n, Offer: in.Offer, Reason: in.Reason, Missing: in.Missing, Detail: in.Detail, Hints: hints,
			}
		})
	})
}
