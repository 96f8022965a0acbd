package tasks

import (
	"context"
	"strings"

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

// List lists the tasks that the caller may see, newest first. The list shows what each is about, and is recorded as one read.
func (ts *Tasks) List(ctx context.Context, c caller.Caller, in TasksInput) ([]view.TaskRow, error) {
	if err := c.May(identity.ReadOwn, "list tasks"); err != nil {
		return nil, ts.access.Refused(ctx, c.Workspace, c.Actor(), "list", "", err)
	}
	if in.Limit < 0 || in.Limit > view.MaxPage {
		return nil, refusal.New(refusal.Invalid, "use 1 to 500", "a limit of %d is out of range", in.Limit)
	}
	f := in.TaskFilter
	var err error
	if f.Owner, err = ts.agentStore.Identity(ctx, c.Workspace, f.Owner); err == nil && !strings.Contains(f.Involving, "/") {
		f.Involving, err = ts.agentStore.Identity(ctx, c.Workspace, f.Involving)
	}
	if err != nil {
		return nil, err
	}
	if !identity.May(c.Role, identity.ReadAny) {
		f.Involving = c.Name
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
