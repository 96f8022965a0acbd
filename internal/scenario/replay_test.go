package scenario

import (
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// lost is a handoff that no agent answers: it ends in the dead letters.
func lost(in handoffs.SendInput) handoffs.SendInput {
	none := 0
	in.Retries, in.Timeouts.Offer, in.Timeouts.Confirm = &none, event.Duration(7*time.Minute), event.Duration(11*time.Minute)
	in.Timeouts.Lease, in.Detail = event.Duration(47*time.Minute), "you know roofs"
	return in
}

func (h *harness) replay(in tasks.ReplayInput) taskstore.Receipt {
	h.Helper()
	return ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) { return h.app.Tasks.Replay(ctx(h), c, in) })
}

func TestAReplayAsksForWhatWasAskedFor(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true, Permissions: []string{"ladder", "saw"}})
		h.send(h.agent("ann"), r, lost(handoffs.SendInput{
			To: []string{"bob", "cyd"}, Confirm: event.ConfirmExplicit, Permissions: []string{"ladder"}, Kind: event.Cold, Reason: event.ReasonSpecialization,
		}))
		before := h.inState(r.Task, event.Parked).Handoff
		h.replay(tasks.ReplayInput{Task: r.Task})
		now := h.task(r.Task).Handoff
		if now.N == before.N || now.Kind != event.Cold || now.Confirm != event.ConfirmExplicit || now.Retries != 0 || now.Times != before.Times ||
			now.Detail != "you know roofs" || now.Reason != event.ReasonSpecialization || now.By != "agent/ann" ||
			!slices.Equal(now.Permits, []string{"ladder"}) || len(now.Candidates) != 2 {
			h.Errorf("asked again as %+v, was %+v", now, before)
		}
		h.inState(r.Task, event.Parked)
		h.replay(tasks.ReplayInput{Task: r.Task, To: []string{"cyd"}, Note: "as it is"})
		if now := h.task(r.Task).Handoff; now.Kind != event.Cold || now.Confirm != event.ConfirmAuto || now.Detail != "as it is" || now.By != "operator/ann" {
			h.Errorf("edited, it is a plain handoff: %+v", now)
		}
	})
}

func TestAReplayFollowsTheRouteAsTheOperatorEditsIt(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "cyd", "dan")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true, Route: []string{"bob", "dan"}})
		h.send(h.agent("ann"), r, lost(handoffs.SendInput{Confirm: event.ConfirmExplicit}))
		h.inState(r.Task, event.Parked)
		h.replay(tasks.ReplayInput{Task: r.Task})
		if now := h.task(r.Task).Handoff; !now.RouteStep || now.Candidates[0].Agent != "bob" {
			h.Errorf("the next stop again: %+v", now)
		}
		h.inState(r.Task, event.Parked)
		h.replay(tasks.ReplayInput{Task: r.Task, Route: []string{"cyd", "dan"}})
		if now := h.task(r.Task).Handoff; !now.RouteStep || now.Candidates[0].Agent != "cyd" || now.Confirm != event.ConfirmExplicit {
			h.Errorf("the next stop of the new route: %+v", now)
		}
	})
}
