package history

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// maxTrail is the most bytes of events that a trail holds in one document.
const maxTrail = 8 << 20

// Trail gives a task's whole history, without memory items that were forgotten. The read is recorded before it is
// answered.
func (h *History) Trail(ctx context.Context, c caller.Caller, task string) (*view.Trail, error) {
	t, err := h.tasks.For(ctx, c, task)
	if err != nil {
		return nil, h.access.Refused(ctx, c.Workspace, c.Actor(), "trail", task, err)
	}
	if err := h.access.Read(ctx, c.Workspace, c.Actor(), task, "trail", ""); err != nil {
		return nil, err
	}
	return h.trail(ctx, c, t.Task, false)
}

func (h *History) trail(ctx context.Context, c caller.Caller, t task.Task, forgotten bool) (*view.Trail, error) {
	tr := view.NewTrail(t.ID)
	bytes := 0
	err := stream.Each(ctx, h.ledger, taskstore.StreamOf(c.Workspace, t.ID), func(e ledger.Entry) error {
		for _, ev := range e.Events {
			bytes += len(ev.Data)
		}
		if bytes > maxTrail {
			return refusal.New(refusal.TooLarge, "export it as jsonl or csv, which have no bound", "the trail of task %s is longer than %d bytes",
				t.ID, maxTrail)
		}
		if !forgotten {
			var err error
			if e, err = h.memories.Readable(ctx, e); err != nil {
				return err
			}
		}
		return tr.Add(readable(c, t, e), h.tasks.Codec())
	})
	return tr, err
}

// readable is an entry of a task as the caller may read it: envelopes are for the source, the owner and those who may
// read anything; others find the content of what was meant for them where it was given to them.
func readable(c caller.Caller, t task.Task, e ledger.Entry) ledger.Entry {
	if identity.May(c.Role, identity.ReadAny) || t.Requester == c.String() || t.Owner == c.Agent() && t.Owner != "" {
		return e
	}
	return view.Withhold(e)
}
