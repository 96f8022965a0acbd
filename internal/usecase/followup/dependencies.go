package followup

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// CheckDependencies tells a new task of dependencies that ended while it was being created.
func (u *FollowUp) CheckDependencies(ctx context.Context, workspace, id string, ev event.Created) error {
	for _, d := range ev.Dependencies {
		f, err := u.tasks.Load(ctx, taskstore.StreamOf(workspace, d.Task), true)
		if err != nil {
			return err
		}
		if f.State.State.Final() {
			if err := u.tell(ctx, workspace, id, handoff.EndDependency{Task: d.Task, State: f.State.State}); err != nil {
				return err
			}
		}
	}
	if len(ev.Dependencies) > 0 {
		return u.SetOut(ctx, workspace, id)
	}
	return nil
}

// SetOut sends a task whose dependencies have completed along its route.
func (u *FollowUp) SetOut(ctx context.Context, workspace, id string) error {
	c := caller.System(workspace, "courier")
	_, err := u.tasks.Do(ctx, c.Write(""), taskstore.StreamOf(workspace, id), func(t task.Task, now time.Time) ([]event.Event, error) {
		if t.State != event.Pending || t.Owner != "" || len(t.Route) == 0 || len(t.Unmet()) > 0 || t.Handoff != nil {
			return nil, nil
		}
		in := handoffs.SendInput{Task: id, Reason: event.ReasonSpecialization, Detail: "its dependencies have completed"}
		events, err := u.handoffs.Decide(ctx, c, in, t, now)
		if err != nil && caller.Tolerate(err) == nil {
			return strand(t, err, now)
		}
		return events, err
	})
	return caller.Tolerate(err)
}
