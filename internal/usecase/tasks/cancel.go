package tasks

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// CancelInput calls a task off, or withdraws a handoff.
type CancelInput struct {
	ID     string `json:"id,omitempty" doc:"Of the task, or of the handoff under way."`
	Epoch  uint64 `json:"epoch,omitempty" doc:"The task's epoch as you know it. Omitted for a task: its present owner, at any epoch."`
	Detail string `json:"detail,omitempty" doc:"Why."`
}

// Cancel calls a task off, children included, as its owner, its requester or an operator. With the id of a handoff
// under way it only takes that back.
func (ts *Tasks) Cancel(ctx context.Context, c caller.Caller, in CancelInput) (taskstore.Receipt, error) {
	if task, n, err := event.ParseHandoffID(in.ID); err == nil {
		return ts.store.Change(ctx, c, "cancel", task, in, handoff.Withdraw{By: c.Principal, Epoch: in.Epoch, Handoff: n, Detail: in.Detail})
	}
	return ts.store.Change(ctx, c, "cancel", in.ID, in, handoff.Cancel{By: c.Principal, Epoch: in.Epoch, Detail: in.Detail})
}
