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
			events, err := handoff.Decide(t, handoff.Constrain{By: c.Principal, Constraint: k, Count: envelopes.Tokens}, now)
			if code := refusal.CodeOf(err); code == refusal.TooLarge || code == refusal.Invalid || code == refusal.Limit {
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

// Unbind frees the open children of a task of a constraint that was lifted there and that they inherited.
func (u *FollowUp) Unbind(ctx context.Context, workspace string, e ledger.Entry, lifted event.Lifted) error {
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
			var lifts handoff.Sequence
			for _, k := range t.Constraints {
				if k.InheritsFrom(lifted.Constraint) {
					lifts = append(lifts, handoff.Lift{By: c.Principal, ID: k.ID, Why: lifted.Why})
				}
			}
			return handoff.Decide(t, lifts, now)
		})
		if err := caller.Tolerate(err); err != nil {
			return err
		}
	}
	return nil
}
