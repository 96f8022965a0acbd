package memories

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Pin puts a memory item into every envelope that may hold it, before others. A pin by an agent of an item for the whole workspace
// counts once an operator pins the item, too: until then it is proposed. An agent holds at most [memory.MaxPins] pins; one more is
// refused (limit).
func (ms *Memories) Pin(ctx context.Context, c caller.Caller, id string) (Item, error) {
	ctx, end := ms.pinning(ctx, c)
	defer end()
	return ms.change(ctx, c, "pin", id, nil, func(by memory.Reader) memory.Command { return memory.Pin{By: by, ID: id} })
}

// pinning lets the agents of this server pin one after the other, so that each pin sees the pins before it. end ends that. The call has no turn on the
// processors any more: others, which have turns, may wait for it here.
func (ms *Memories) pinning(ctx context.Context, c caller.Caller) (_ context.Context, end func()) {
	if c.Agent() == "" {
		return ctx, func() {}
	}
	ledger.Pause(ctx)
	ms.pins.Lock()
	return ledger.WithTurn(ctx, nil), ms.pins.Unlock
}

// boundPins refuses (limit) events by which an agent would hold more pins than it may. The number comes from the views, which have
// what this server has recorded: with several servers, there may be a few more.
func (ms *Memories) boundPins(ctx context.Context, c caller.Caller, events []memory.Event) error {
	if c.Agent() == "" || len(events) == 0 || !memory.Fold(memory.State{}, events[0]).Pinned {
		return nil
	}
	if err := ms.store.catchUp(ctx); err != nil {
		return err
	}
	held := 0
	for _, p := range []memory.Pinning{memory.AgentPin, memory.ProposedPin} {
		list, err := ms.store.views.Memory(ctx, c.Workspace, view.MemoryFilter{
			By: memory.Reader{Principal: identity.Principal{Workspace: c.Workspace, Role: identity.Agent, Name: c.Agent()}}, Author: c.String(), Pinning: p, Limit: memory.MaxPins,
		})
		if err != nil {
			return stream.Unavailable(err)
		}
		held += len(list)
	}
	if held < memory.MaxPins {
		return nil
	}
	return refusal.New(refusal.Limit, "[unpin](memory unpin) or [forget](memory forget) an item that matters less, or give this one a high importance instead of a pin",
		"%s holds %d pins already, as many as an agent may", c.Agent(), held).With("limit", memory.MaxPins)
}
