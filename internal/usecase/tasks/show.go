package tasks

import (
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Show returns a task that the caller may see; to whom it was only offered or shared, a preview. It is a fresh read, and
// is recorded.
func (ts *Tasks) Show(ctx context.Context, c caller.Caller, id string) (taskstore.Task, error) {
	return ts.Wait(ctx, c, TaskInput{ID: id})
}

// MaxPreview is how many bytes of the intent a preview shows, as inboxes do.
const MaxPreview = 500

// preview leaves out what the caller may not read.
func preview(c caller.Caller, t task.Task) task.Task {
	visible := taskstore.VisibilityFor(c, t)
	if !visible.Intent {
		t.Intent = refusal.Clip(t.Intent, MaxPreview)
	}
	switch {
	case visible.Work && visible.Past == task.PastHeld:
		return task.SinceCold(t)
	case visible.Work:
		return t
	}
	name := c.Agent()
	if h := t.InFlight(); t.Handoff != nil && (h == nil || !slices.Contains(h.To, name)) {
		handoff := *t.Handoff
		handoff.Detail, handoff.Why = "", ""
		t.Handoff = &handoff
	}
	if t.Parked != nil {
		parked := *t.Parked
		parked.Detail = ""
		t.Parked = &parked
	}
	t.Conversation, t.Progress, t.Result, t.Children, t.Takeovers, t.Ticket, t.Answers = "", "", nil, nil, nil, nil, nil
	t.Shares = slices.DeleteFunc(slices.Clone(t.Shares), func(s task.Share) bool { return s.To != name })
	return t
}
