package history

import (
	"context"

	"github.com/trapezehq/trapeze/internal/content/drift"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Drift reports what each hop of a task kept, changed, left out and dropped. Each hop compares what the task had said
// with what the next receiver was given: the rendition packed for it, or the envelope itself where nothing was packed.
// A child's chain begins with the envelope of its parent. It is for callers who read the past of the task, of the envelopes that they read, and is
// recorded.
func (h *History) Drift(ctx context.Context, c caller.Caller, id string) (drift.Report, error) {
	r, err := h.driftOf(ctx, c, id)
	if err != nil {
		return drift.Report{}, h.access.Refused(ctx, c.Workspace, c.Actor(), "drift", id, err)
	}
	return r, nil
}

func (h *History) driftOf(ctx context.Context, c caller.Caller, id string) (drift.Report, error) {
	t, err := h.tasks.For(ctx, c, id)
	if err != nil {
		return drift.Report{}, err
	}
	if past := taskstore.VisibilityFor(c, t.Task).Past; past != task.PastHeld && past != task.PastWhole {
		return drift.Report{}, refusal.New(refusal.NotPermitted, "ask its owner or its requester", "only those that hold task %s, or have held it, read what became of its content", t.ID)
	}
	if err := h.access.Read(ctx, c.Workspace, c.Actor(), id, "drift", t.Envelope); err != nil {
		return drift.Report{}, err
	}
	past, err := h.tasks.PastFor(ctx, c, t.Task)
	if err != nil {
		return drift.Report{}, err
	}
	said, given, err := h.envelopes.Chain(ctx, c.Workspace, t.Task, past.Reads)
	if err != nil {
		return drift.Report{}, err
	}
	if err := h.memories.RedactTitles(ctx, c.Workspace, said, given); err != nil {
		return drift.Report{}, err
	}
	lifts, err := h.lifts(ctx, c, t.Task)
	return drift.OfPacked(said, given, lifts...), err
}

// lifts are those of constraints of a task, oldest first.
func (h *History) lifts(ctx context.Context, c caller.Caller, t task.Task) (lifts []drift.Lift, err error) {
	name, skip := event.Lifted{}.EventName(), func(view.Row) error { return nil }
	in := ExportInput{SkipDamaged: true, Forgotten: true} // a lift refers to no memory item that could be forgotten
	err = h.eachEntry(ctx, c, t, in, func(e ledger.Entry) error {
		for _, ev := range e.Events {
			if ev.Name != name {
				continue
			}
			decoded, err := h.tasks.Codec().Decode(ev)
			if err != nil {
				return err
			}
			if l, ok := decoded.(event.Lifted); ok {
				lifts = append(lifts, drift.Lift{At: e.Time, Lifted: l})
			}
		}
		return nil
	}, skip)
	return lifts, err
}
