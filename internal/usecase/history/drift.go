package history

import (
	"context"

	"github.com/trapezehq/trapeze/internal/content/drift"
	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Drift reports what each hop of a task kept, changed, left out and dropped. Each hop compares what the task had said
// with what the next receiver was given: the rendition packed for it, or the envelope itself where nothing was packed.
// A child's chain begins with the envelope of its parent. It is for callers who may read the task's content, and is recorded.
func (h *History) Drift(ctx context.Context, c caller.Caller, task string) (drift.Report, error) {
	r, err := h.driftOf(ctx, c, task)
	if err != nil {
		return drift.Report{}, h.access.Refused(ctx, c.Workspace, c.Actor(), "drift", task, err)
	}
	return r, nil
}

func (h *History) driftOf(ctx context.Context, c caller.Caller, task string) (drift.Report, error) {
	t, err := h.tasks.For(ctx, c, task)
	if err != nil {
		return drift.Report{}, err
	}
	if !taskstore.Whole(c, t.Task) {
		return drift.Report{}, refusal.New(refusal.NotPermitted, "ask its owner or its requester", "what task %s says is for its holder", t.ID)
	}
	if err := h.access.Read(ctx, c.Workspace, c.Actor(), task, "drift", t.Envelope); err != nil {
		return drift.Report{}, err
	}
	said, given, err := h.envelopes.Chain(ctx, c.Workspace, t.Task)
	if err != nil {
		return drift.Report{}, err
	}
	for _, docs := range [][]envelope.Envelope{said, given} {
		if err := h.memories.RedactTitles(ctx, c.Workspace, docs); err != nil {
			return drift.Report{}, err
		}
	}
	return drift.OfPacked(said, given), nil
}
