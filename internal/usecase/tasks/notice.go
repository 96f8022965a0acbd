package tasks

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// seeNotice records that the caller has seen a notice of its inbox.
func (ts *Tasks) seeNotice(ctx context.Context, c caller.Caller, item *view.Item) error {
	taskID, n, err := event.ParseNoticeID(item.ID)
	if err != nil {
		return err
	}
	if err := ts.noteSeen(ctx, c, taskID, n); err != nil {
		return err
	}
	item.Seen = true
	return nil
}

func (ts *Tasks) noteSeen(ctx context.Context, c caller.Caller, taskID string, n int) error {
	_, err := ts.store.Decide(ctx, c.WithKey(""), "see", taskID, nil, func(t task.Task, now time.Time) ([]event.Event, error) {
		return handoff.Decide(t, handoff.SeeNotice{By: c.Principal, Notice: n}, now)
	})
	return err
}

// noticed records that an agent which waited for a task has seen its notice of it: the task shows the same. If that cannot be
// recorded now, the notice stays in the inbox.
func (ts *Tasks) noticed(ctx context.Context, c caller.Caller, t taskstore.Task) {
	if n := t.Notices.To(c.Agent()); n != nil && !n.Seen && c.Can(identity.ActOwn) {
		_ = ts.noteSeen(ctx, c, t.ID, n.N)
	}
}
