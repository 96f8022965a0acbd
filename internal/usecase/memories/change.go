package memories

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func (ms *Memories) change(ctx context.Context, c caller.Caller, verb, id string, in any, command func(memory.Reader) memory.Command) (Item, error) {
	x, err := ms.tryChange(ctx, c, verb, id, in, command)
	if err != nil {
		return Item{}, ms.access.Refused(ctx, c.Workspace, c.Actor(), verb, id, err)
	}
	return x, nil
}

func (ms *Memories) tryChange(ctx context.Context, c caller.Caller, verb, id string, in any, command func(memory.Reader) memory.Command) (Item, error) {
	if err := c.May(identity.ActOwn, verb+" a memory item"); err != nil {
		return Item{}, err
	}
	if err := refusal.In("id", memory.CheckID(id)); err != nil {
		return Item{}, err
	}
	request, err := c.Digest(verb, in)
	if err != nil {
		return Item{}, err
	}
	at := StreamOf(c.Workspace, id)
	out, err := ms.store.Do(ctx, c.Write(request), at, func(s memory.State, now time.Time) ([]memory.Event, error) {
		by := memory.Reader{Principal: c.Principal}
		if !memory.MayChange(s, by) && s.Exists() { // to be told that it may not, it must be one that may read
			if err := taskstore.Join(ctx, ms.store.tasks, c.Workspace, &by, s.Task); err != nil {
				return nil, err
			}
		}
		events, err := memory.Decide(s, command(by), now)
		if err == nil {
			err = ms.boundPins(ctx, c, events)
		}
		return events, err
	})
	if err != nil {
		return Item{}, err
	}
	return ms.answer(ctx, at, out)
}
