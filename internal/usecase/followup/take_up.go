package followup

import (
	"context"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// TakeUp moves a task that nobody owns, and that came back to its requester, to the dead letters at once if the requester is an agent
// that was removed: nobody would take it up. One that is only offline has its time.
func (u *FollowUp) TakeUp(ctx context.Context, workspace, id string) error {
	c := caller.System(workspace, "courier")
	_, err := u.tasks.Do(ctx, c.Write(""), taskstore.StreamOf(workspace, id), func(t task.Task, now time.Time) ([]event.Event, error) {
		name, is := strings.CutPrefix(t.Requester, "agent/")
		if t.TakeUpBy.IsZero() || !is {
			return nil, nil
		}
		requester, err := u.agents.Known(ctx, workspace, name, true)
		if err != nil || !requester.Removed {
			return nil, err
		}
		why := name + " requested it and was removed"
		if back := t.WhyBack(); back != "" {
			why += "; " + back
		}
		return handoff.Decide(t, handoff.Park{By: c.Principal, Why: why}, now)
	})
	return caller.Tolerate(err)
}

// TakeUpAll does what [FollowUp.TakeUp] does for all tasks of an agent that was removed by an entry.
func (u *FollowUp) TakeUpAll(ctx context.Context, workspace string, e ledger.Entry) error {
	removed, err := u.agents.AsOf(ctx, e.Stream, e.Position)
	if err != nil {
		return err
	}
	if err := u.views.Wait(ctx, e.Position); err != nil {
		return stream.Unavailable(err)
	}
	f := view.TaskFilter{State: event.Pending, Involving: removed.State.Name, Limit: view.MaxPage}
	for {
		list, err := u.views.Tasks(ctx, workspace, f)
		if err != nil {
			return stream.Unavailable(err)
		}
		for _, t := range list {
			if err := u.TakeUp(ctx, workspace, t.ID); err != nil {
				return err
			}
			f.After = t.ID
		}
		if len(list) < f.Limit {
			return nil
		}
	}
}
