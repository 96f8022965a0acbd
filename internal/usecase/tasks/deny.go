package tasks

import (
	"context"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

// DenyInput says no.
type DenyInput struct {
	ID     string `json:"id,omitempty" doc:"Of the handoff, of a ticket, or of the takeover request."`
	Epoch  uint64 `json:"epoch,omitempty" doc:"For a takeover request, or a ticket that you take back: the task's epoch as you know it."`
	Detail string `json:"detail,omitempty" doc:"Why."`
}

// Deny stops a supervised handoff, whose task is then back with its source, says no to a ticket, or refuses a takeover
// request.
func (ts *Tasks) Deny(ctx context.Context, c caller.Caller, in DenyInput) (taskstore.Receipt, error) {
	if task, n, err := event.ParseTakeoverID(in.ID); err == nil {
		return ts.store.Change(ctx, c, "deny", task, in, handoff.DenyTakeover{By: c.Principal, Epoch: in.Epoch, Takeover: n, Detail: in.Detail})
	}
	if strings.Contains(in.ID, ".k") {
		return ts.tickets.Deny(ctx, c, tickets.DenyInput(in))
	}
	task, n, err := event.ParseHandoffID(in.ID)
	if err != nil {
		return taskstore.Receipt{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "deny", in.ID, err)
	}
	return ts.store.Change(ctx, c, "deny", task, in, handoff.Deny{By: c.Principal, Handoff: n, Detail: in.Detail})
}
