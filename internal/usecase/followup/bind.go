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
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Bind lays a constraint that a task got upon its open children: it reaches every later envelope of theirs too. A child
// that has no room for it, for example because agents have added all that they may, goes to the dead letters, rather than on
// without it.
func (u *FollowUp) Bind(ctx context.Context, workspace string, e ledger.Entry, k event.Constraint) error {
	return u.forOpenChildren(ctx, workspace, e, func(parent, t task.Task, now time.Time) ([]event.Event, error) {
		k.Added = parent.Added(k) // older records do not say so
		by := caller.System(workspace, "courier").Principal
		events, err := handoff.Decide(t, handoff.Constrain{By: by, Constraint: k, Count: envelopes.Tokens}, now)
		if code := refusal.CodeOf(err); code == refusal.TooLarge || code == refusal.Invalid || code == refusal.Limit {
			return strand(t, err, now)
		}
		return events, err
	})
}

// Unbind frees the open children of a task of what was lifted there of a constraint that they inherited.
func (u *FollowUp) Unbind(ctx context.Context, workspace string, e ledger.Entry, lifted event.Lifted) error {
	return u.forOpenChildren(ctx, workspace, e, func(_, t task.Task, now time.Time) ([]event.Event, error) {
		return handoff.Decide(t, handoff.Lift{By: caller.System(workspace, "courier").Principal, Parent: lifted}, now)
	})
}

// forOpenChildren changes every open child of the task of an entry.
func (u *FollowUp) forOpenChildren(ctx context.Context, workspace string, e ledger.Entry,
	decide func(parent, child task.Task, now time.Time) ([]event.Event, error),
) error {
	f, err := u.tasks.LoadAt(ctx, e)
	if err != nil {
		return err
	}
	c := caller.System(workspace, "courier")
	for _, child := range f.State.Children {
		if child.State.Final() {
			continue
		}
		_, err := u.tasks.Do(ctx, c.Write(""), taskstore.StreamOf(workspace, child.Task), func(t task.Task, now time.Time) ([]event.Event, error) {
			return decide(f.State, t, now)
		})
		if err := caller.Tolerate(err); err != nil {
			return err
		}
	}
	return nil
}
