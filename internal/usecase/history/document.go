package history

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Document gives all that is recorded of one handoff of a task, the newest or an earlier one: its parts, its envelope and its trail, as far as
// the caller reads them. The read is recorded.
func (h *History) Document(ctx context.Context, c caller.Caller, handoff string) (view.Record, error) {
	r, err := h.document(ctx, c, handoff)
	if err != nil {
		return view.Record{}, h.access.Refused(ctx, c.Workspace, c.Actor(), "document", handoff, err)
	}
	return r, nil
}

func (h *History) document(ctx context.Context, c caller.Caller, handoff string) (view.Record, error) {
	id, n, err := event.ParseHandoffID(handoff)
	if err != nil {
		return view.Record{}, err
	}
	t, err := h.tasks.For(ctx, c, id)
	if err != nil {
		return view.Record{}, err
	}
	if t.Handoff == nil || n > t.Handoff.N {
		return view.Record{}, refusal.New(refusal.NotFound, "[fetch the task](task show) to see its handoffs", "task %s has no handoff %d", id, n)
	}
	if err := h.access.Read(ctx, c.Workspace, c.Actor(), id, "handoff "+handoff, ""); err != nil {
		return view.Record{}, err
	}
	tr := view.NewTrailOf(id, n)
	err = h.eachEntry(ctx, c, t.Task, ExportInput{}, func(e ledger.Entry) error {
		if err := tr.Add(e, h.tasks.Codec()); err != nil {
			return err
		}
		if tr.Bytes() > maxTrail {
			return refusal.New(refusal.TooLarge, "export the task as jsonl or csv, which have no bound", "the document of handoff %s is longer than %d bytes", handoff, maxTrail)
		}
		return nil
	}, nil)
	if err != nil {
		return view.Record{}, err
	}
	if len(tr.Handoffs) == 0 {
		return view.Record{}, refusal.New(refusal.NotFound, "[fetch the task](task show) to see its handoffs", "task %s has no handoff %d", id, n)
	}
	return tr.Handoffs[0], nil
}
