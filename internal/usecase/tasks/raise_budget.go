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

// RaiseBudgetInput raises the budget of a task that has not ended.
type RaiseBudgetInput struct {
	Task   string       `json:"task,omitempty" doc:"Id of the task."`
	Budget event.Budget `json:"budget" doc:"The new amounts; those that are omitted stay. Each must be larger than it is."`
	Why    string       `json:"why,omitempty" maxLength:"2000" doc:"Reason, for the record."`
}

// raises is the verb of a decision.
const raises = "raise the budget of"

// RaiseBudget raises the budget of a task that has not ended, as its requester, as the owner of its parent if it is a child, or as an
// operator. What a child gets is first reserved of what its parent has left, which the record of the parent shows. If the call fails
// between the two, a repeated call does the rest; until then the child has no more than it had.
func (ts *Tasks) RaiseBudget(ctx context.Context, c caller.Caller, in RaiseBudgetInput) (taskstore.Receipt, error) {
	r, err := ts.raiseBudget(ctx, c, in)
	if err != nil {
		return taskstore.Receipt{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), raises, in.Task, err)
	}
	return r, nil
}

func (ts *Tasks) raiseBudget(ctx context.Context, c caller.Caller, in RaiseBudgetInput) (taskstore.Receipt, error) {
	if err := event.CheckTaskID(in.Task); err != nil {
		return taskstore.Receipt{}, err
	}
	t, err := ts.store.Find(ctx, c.Workspace, in.Task)
	if err != nil {
		return taskstore.Receipt{}, err
	}
	if t.Parent.Task != "" {
		if err := ts.reserve(ctx, c, t, in); err != nil {
			return taskstore.Receipt{}, err
		}
	}
	out, err := ts.store.Decide(ctx, c, raises, in.Task, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		var parent task.Task
		if t.Parent.Task != "" {
			if parent, err = ts.store.Find(ctx, c.Workspace, t.Parent.Task); err != nil {
				return nil, err
			}
		}
		if !t.Exists() || !ts.store.Sees(c, t) && parent.SourcePrincipal() != c.String() {
			return nil, taskstore.Unknown(in.Task)
		}
		reserved := !parent.State.Final() && parent.SourcePrincipal() == c.String()
		return handoff.Decide(t, handoff.RaiseBudget{By: c.Principal, Reserved: reserved, Budget: in.Budget, Why: in.Why}, now)
	})
	if err != nil {
		return taskstore.Receipt{}, err
	}
	return taskstore.ReceiptOf(out), nil
}

// reserve takes what a child is to get more from what its parent has left, unless one of them has ended.
func (ts *Tasks) reserve(ctx context.Context, c caller.Caller, child task.Task, in RaiseBudgetInput) error {
	cmd := handoff.RaiseBudget{By: c.Principal, Budget: in.Budget, Why: in.Why}
	_, err := ts.store.Decide(ctx, c, raises, child.Parent.Task, in, func(parent task.Task, now time.Time) ([]event.Event, error) {
		if !ts.store.Sees(c, child) && parent.SourcePrincipal() != c.String() {
			return nil, taskstore.Unknown(in.Task)
		}
		if parent.State.Final() || child.State.Final() {
			return nil, nil
		}
		raise, reserve := cmd, cmd
		raise.Reserved, reserve.Child = true, child.ID
		if _, err := handoff.Decide(child, raise, now); err != nil {
			return nil, err
		}
		return handoff.Decide(parent, reserve, now)
	})
	return err
}
