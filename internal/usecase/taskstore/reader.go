package taskstore

import (
	"context"
	"maps"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Finder finds tasks, for any caller. It is implemented by [Store].
type Finder interface {
	// Find is a fresh read of a task; the zero task for one that does not exist.
	Find(ctx context.Context, workspace, id string) (task.Task, error)
}

// TakesPart reports whether a principal reads the memory items in the scope of a task, and the conversation that it belongs to: until the
// task ends, its requester, its owners, and the approver of its handoff do.
func TakesPart(t task.Task, p identity.Principal) bool {
	return t.Exists() && !t.State.Final() && task.VisibilityFor(&t, p.String()).Memory
}

// AddPart adds a task to a reader that takes part in it, with the times of what it reads of its memory, and reports whether it does.
func AddPart(r *memory.Reader, t task.Task) bool {
	if !TakesPart(t, r.Principal) {
		return false
	}
	r.Tasks = append(slices.Clip(r.Tasks), t.ID)
	spans := []memory.Span{}
	for _, v := range task.TenuresOf(&t, r.String()) {
		if v.From.IsZero() && v.Until.IsZero() {
			return true
		}
		spans = append(spans, memory.Span{From: v.From, Until: v.Until})
	}
	r.Spans = maps.Clone(r.Spans) // readers are copied
	if r.Spans == nil {
		r.Spans = map[string][]memory.Span{}
	}
	r.Spans[t.ID] = spans
	return true
}

// Join adds those of some tasks to a reader that the reader takes part in.
func Join(ctx context.Context, tasks Finder, workspace string, r *memory.Reader, ids ...string) error {
	for _, id := range ids {
		if id == "" || event.CheckTaskID(id) != nil || slices.Contains(r.Tasks, id) {
			continue
		}
		t, err := tasks.Find(ctx, workspace, id)
		if err != nil {
			return err
		}
		AddPart(r, t)
	}
	return nil
}
