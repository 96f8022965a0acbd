package followup

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

// TellEnd tells the parent and the dependents of a task how it stands after an event of an entry.
func (u *FollowUp) TellEnd(ctx context.Context, workspace, id string, e ledger.Entry, ev event.Event) error {
	if err := u.views.Wait(ctx, e.Position); err != nil {
		return stream.Unavailable(err)
	}
	dependents, err := u.views.Dependents(ctx, workspace, id) // those that are recorded later look for themselves
	if err != nil {
		return stream.Unavailable(err)
	}
	before, err := u.tasks.Load(ctx, e.Stream, false) // a task has its parent from its first entry on
	if err != nil || before.State.Parent.Task == "" && len(dependents) == 0 {
		return err
	}
	f, err := u.tasks.LoadAt(ctx, e)
	if err != nil {
		return err
	}
	t := f.State
	if t.Parent.Task != "" && (t.Parent.Await || t.State.Final()) { // what it did not use is its parent's again
		end := handoff.EndChild{Child: id, State: t.State, Result: t.Result, Spent: t.Spent, Tasks: t.Offspring(), Why: whyEnded(t, ev)}
		if !t.State.Final() && t.State != event.Parked { // out of the dead letters again
			end.State = event.Pending
		}
		if err := u.tell(ctx, workspace, t.Parent.Task, end); err != nil {
			return err
		}
	}
	if !t.State.Final() {
		return nil
	}
	for _, d := range dependents {
		if err := u.tell(ctx, workspace, d, handoff.EndDependency{Task: id, State: t.State}); err != nil {
			return err
		}
	}
	return nil
}

// whyEnded is why a task that an event has brought to an end, or to the dead letters, was not completed.
func whyEnded(t task.Task, ev event.Event) string {
	if t.State == event.Parked {
		return string(t.Parked.Cause) + ": " + t.Parked.Detail
	}
	because := func(did, by, detail string) string {
		if detail != "" {
			detail = ": " + detail
		}
		return did + " by " + by + detail
	}
	switch ev := ev.(type) {
	case event.GaveUp:
		return ev.Detail
	case event.Called:
		return because("cancelled", ev.By, ev.Detail)
	case event.Discarded:
		return because("discarded", ev.By, ev.Why)
	}
	return ""
}
