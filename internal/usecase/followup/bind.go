package followup

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Bind lays a constraint that a task got upon its open children: it reaches every later envelope of theirs too. A child
// that has no room for it goes to the dead letters, rather than on without it.
func (u *FollowUp) Bind(ctx context.Context, workspace string, e ledger.Entry, k event.Constraint) error {
	f, err := u.tasks.LoadAt(ctx, e)
	if err != nil {
		return err
	}
	k.Added = f.State.Added(k) // older records do not say so
	c := caller.System(workspace, "courier")
	for _, child := range f.State.Children {
		if child.State.Final() {
			continue
		}
		_, err := u.tasks.Do(ctx, c.Write(""), taskstore.StreamOf(workspace, child.Task), func(t task.Task, now time.Time) ([]event.Event, error) {
			events, err := handoff.Decide(t, handoff.Constrain{By: c.Principal, Constraint: k}, now)
			if code := refusal.CodeOf(err); code == refusal.TooLarge || code == refusal.Invalid {
				return strand(t, err, now)
			}
			return events, err
		})
		if err := caller.Tolerate(err); err != nil {
			return err
		}
	}
	return nil
}
