package history

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// maxTrail is the most bytes of events that a trail holds in one document.
const maxTrail = 8 << 20

// Trail gives a task's whole history, without memory items that were forgotten. The read is recorded before it is
// answered.
func (h *History) Trail(ctx context.Context, c caller.Caller, task string) (*view.Trail, error) {
	return h.TrailAround(ctx, c, ExportInput{Task: task})
}

func (h *History) trail(ctx context.Context, c caller.Caller, t task.Task, in ExportInput) (*view.Trail, error) {
	tr := view.NewTrail(t.ID)
	skip := func(r view.Row) error {
		tr.Skip(r)
		return nil
	}
	bytes := 0
	err := h.eachEntry(ctx, c, t, in, func(e ledger.Entry) error {
		for _, ev := range e.Events {
			bytes += len(ev.Data)
		}
		if bytes > maxTrail {
			return refusal.New(refusal.TooLarge, "export it as jsonl or csv, which have no bound", "the trail of task %s is longer than %d bytes",
				t.ID, maxTrail)
		}
		if err := tr.Add(e, h.tasks.Codec()); err != nil {
			return in.skipped(e.Position, err, skip)
		}
		return nil
	}, skip)
	return tr, err
}

// reader returns what the caller reads of the entries of a task: those that its part in the task lets it read are whole, the others are
// without content. With no task, it reads everything.
func (h *History) reader(ctx context.Context, c caller.Caller, t task.Task) (func(ledger.Entry) ledger.Entry, error) {
	if !t.Exists() {
		return func(e ledger.Entry) ledger.Entry { return e }, nil
	}
	past, err := h.tasks.PastFor(ctx, c, t)
	if err != nil {
		return nil, err
	}
	keepIntent := taskstore.VisibilityFor(c, t).Intent
	return func(e ledger.Entry) ledger.Entry {
		if past.Reads(e) {
			return e
		}
		return view.Withhold(e, keepIntent)
	}, nil
}
