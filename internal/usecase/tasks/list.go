package tasks

import (
	"context"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// TasksInput narrows a list of tasks.
type TasksInput struct {
	view.TaskFilter
}

// List lists the tasks that the caller may see, in the order of their ids, the highest first. The list shows what each is about, and is recorded as one read.
func (ts *Tasks) List(ctx context.Context, c caller.Caller, in TasksInput) ([]view.TaskRow, error) {
	f, err := ts.visible(ctx, c, in)
	if err != nil {
		return nil, err
	}
	list, err := ts.views.Tasks(ctx, c.Workspace, f)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
		if t := &list[i]; t.Parked != nil && f.Involving != "" && t.Owner != c.Name && t.Requester != c.String() {
			parked := *t.Parked
			parked.Detail = ""
			t.Parked = &parked
		}
	}
	return list, ts.access.ReadList(ctx, c.Workspace, c.Actor(), "list of tasks", ids)
}

// visible narrows a filter to what the caller may see.
func (ts *Tasks) visible(ctx context.Context, c caller.Caller, in TasksInput) (f view.TaskFilter, err error) {
	if err := c.May(identity.ReadOwn, "list tasks"); err != nil {
		return f, ts.access.Refused(ctx, c.Workspace, c.Actor(), "list", "", err)
	}
	f = in.TaskFilter
	if err := view.CheckLimit(f.Limit); err != nil {
		return f, err
	}
	if !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return f, refusal.New(refusal.Invalid, "give until a later time than since", "there is no time between since %s and until %s", f.Since.Format(time.RFC3339), f.Until.Format(time.RFC3339))
	}
	if f.Owner, err = ts.agentStore.Identity(ctx, c.Workspace, f.Owner); err == nil && !strings.Contains(f.Involving, "/") {
		f.Involving, err = ts.agentStore.Identity(ctx, c.Workspace, f.Involving)
	}
	if !identity.May(c.Role, identity.ReadAny) {
		f.Involving = c.Name
	}
	return f, err
}
