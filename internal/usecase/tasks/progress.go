package tasks

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// ProgressInput reports what the owner has done.
type ProgressInput struct {
	Task  string       `json:"task,omitempty" doc:"Id of the task."`
	Epoch uint64       `json:"epoch" doc:"The task's epoch as you know it."`
	Note  string       `json:"note" doc:"What was done." minLength:"1"`
	Usage event.Budget `json:"usage,omitzero" doc:"What it cost since the last report."`
}

// Progress reports what the owner has done, and renews its lease.
func (a *App) Progress(ctx context.Context, c Caller, in ProgressInput) (taskstore.Receipt, error) {
	return a.tasks.Change(ctx, c, "progress", in.Task, in, handoff.Progress{By: c.Principal, Epoch: in.Epoch, Note: in.Note, Usage: in.Usage})
}

// HeartbeatInput shows that the owner lives.
type HeartbeatInput struct {
	Task  string `json:"task,omitempty" doc:"Id of the task."`
	Epoch uint64 `json:"epoch" doc:"The task's epoch as you know it."`
}

// Heartbeat renews the owner's lease when a third of it is gone; before that it only checks that the caller still
// owns the task.
func (a *App) Heartbeat(ctx context.Context, c Caller, in HeartbeatInput) (taskstore.Receipt, error) {
	return a.tasks.Change(ctx, c, "heartbeat", in.Task, in, handoff.Heartbeat{By: c.Principal, Epoch: in.Epoch})
}

// CompleteInput finishes a task.
type CompleteInput struct {
	Task   string       `json:"task,omitempty" doc:"Id of the task."`
	Epoch  uint64       `json:"epoch" doc:"The task's epoch as you know it."`
	Result event.Result `json:"result,omitzero"`
	Usage  event.Budget `json:"usage,omitzero" doc:"What it cost since the last report."`
}

// Complete finishes a task with its result. A result that is not as the task expects is refused, with what is wrong, so
// that the owner can mend it and complete the task again.
func (a *App) Complete(ctx context.Context, c Caller, in CompleteInput) (taskstore.Receipt, error) {
	cmd := handoff.Complete{By: c.Principal, Epoch: in.Epoch, Result: in.Result, Usage: in.Usage}
	return a.tasks.ChangeWith(ctx, c, "complete", in.Task, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		return a.decideComplete(t, cmd, now)
	})
}

// FailInput ends a task as not done.
type FailInput struct {
	Task   string       `json:"task,omitempty" doc:"Id of the task."`
	Epoch  uint64       `json:"epoch" doc:"The task's epoch as you know it."`
	Detail string       `json:"detail" doc:"What went wrong." minLength:"1"`
	Result event.Result `json:"result,omitzero" doc:"What there is of a result."`
	Usage  event.Budget `json:"usage,omitzero" doc:"What it cost since the last report."`
}

// Fail ends a task as not done.
func (a *App) Fail(ctx context.Context, c Caller, in FailInput) (taskstore.Receipt, error) {
	return a.tasks.Change(ctx, c, "fail", in.Task, in,
		handoff.Fail{By: c.Principal, Epoch: in.Epoch, Detail: in.Detail, Result: in.Result, Usage: in.Usage})
}

// CancelInput calls a task off, or withdraws a handoff.
type CancelInput struct {
	ID     string `json:"id,omitempty" doc:"Of the task, or of the handoff under way."`
	Epoch  uint64 `json:"epoch,omitempty" doc:"The task's epoch as you know it. Left out for a task: whoever owns it now."`
	Detail string `json:"detail,omitempty" doc:"Why."`
}

// Cancel calls a task off, children included, as its owner, its requester or an operator. With the id of a handoff
// under way it only takes that back.
func (a *App) Cancel(ctx context.Context, c Caller, in CancelInput) (taskstore.Receipt, error) {
	if task, n, err := event.ParseHandoffID(in.ID); err == nil {
		return a.tasks.Change(ctx, c, "cancel", task, in, handoff.Withdraw{By: c.Principal, Epoch: in.Epoch, Handoff: n, Detail: in.Detail})
	}
	return a.tasks.Change(ctx, c, "cancel", in.ID, in, handoff.Cancel{By: c.Principal, Epoch: in.Epoch, Detail: in.Detail})
}

// ConstrainInput adds or tightens a constraint.
type ConstrainInput struct {
	Task       string           `json:"task,omitempty" doc:"Id of the task."`
	Epoch      uint64           `json:"epoch,omitempty" doc:"The task's epoch as you know it."`
	Constraint event.Constraint `json:"constraint"`
}

// Constrain adds a constraint, or tightens one.
func (a *App) Constrain(ctx context.Context, c Caller, in ConstrainInput) (taskstore.Receipt, error) {
	return a.tasks.Change(ctx, c, "constrain", in.Task, in, handoff.Constrain{By: c.Principal, Epoch: in.Epoch, Constraint: in.Constraint})
}

// LiftInput takes a constraint away.
type LiftInput struct {
	Task string `json:"task,omitempty" doc:"Id of the task."`
	ID   string `json:"id,omitempty" doc:"Of the constraint."`
	Why  string `json:"why" doc:"Why it may be lifted." minLength:"1"`
}

// Lift takes a constraint away, as the principal that set it or an operator.
func (a *App) Lift(ctx context.Context, c Caller, in LiftInput) (taskstore.Receipt, error) {
	return a.tasks.Change(ctx, c, "lift", in.Task, in, handoff.Lift{By: c.Principal, ID: in.ID, Why: in.Why})
}

// AnnotateInput corrects or comments on an entry.
type AnnotateInput struct {
	Task  string `json:"task,omitempty" doc:"Id of the task."`
	Entry uint64 `json:"entry" minimum:"1" doc:"Position of the entry."`
	Note  string `json:"note" minLength:"1" doc:"What there is to say about it."`
}

// Annotate corrects or comments on an earlier entry of a task, which stays as it is.
func (a *App) Annotate(ctx context.Context, c Caller, in AnnotateInput) (taskstore.Receipt, error) {
	return a.tasks.ChangeWith(ctx, c, "annotate", in.Task, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		at := ledger.Position(max(in.Entry, 1))
		found, err := a.ledger.Stream(ctx, taskstore.StreamOf(c.Workspace, in.Task), at-1, 1)
		if err != nil {
			return nil, stream.Unavailable(err)
		}
		if in.Entry > 0 && (len(found) == 0 || found[0].Position != at) {
			return nil, refusal.New(refusal.NotFound, "look at the task's trail for its entries", "task %s has no entry %d", t.ID, in.Entry)
		}
		return handoff.Decide(t, handoff.Annotate{By: c.Principal, Entry: in.Entry, Note: in.Note}, now)
	})
}
