package followup

import (
	"context"
	"sync"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// ChildrenOf creates the children of a task that a caller's entry at a position has recorded, and waits until the views have them: so the caller, who is given their ids, finds
// them. What it cannot do is done by the courier.
func (u *FollowUp) ChildrenOf(ctx context.Context, c caller.Caller, parent string, at ledger.Position) error {
	out, err := u.tasks.AsOf(ctx, taskstore.StreamOf(c.Workspace, parent), at)
	if err != nil {
		return err
	}
	for _, e := range out.Events {
		if e.Name != (event.Spawned{}).EventName() {
			continue
		}
		d, err := u.tasks.Codec().Decode(e)
		if err != nil {
			return err
		}
		ev, is := d.(event.Spawned)
		if !is {
			continue
		}
		if err := u.CreateChildren(ctx, c.Workspace, parent, ledger.Entry{Position: at, Actor: c.Actor()}, ev); err != nil {
			return err
		}
	}
	return u.positions.CatchUp(ctx)
}

// turns lets one call at a time do what follows from an entry.
type turns struct {
	mu   sync.Mutex
	busy map[ledger.Position]chan struct{}
}

// enter waits for the call that is under way for an entry, if there is one. The caller must call done in the end.
func (t *turns) enter(ctx context.Context, at ledger.Position) (done func(), err error) {
	for {
		t.mu.Lock()
		other, is := t.busy[at]
		if !is {
			mine := make(chan struct{})
			t.busy[at] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				delete(t.busy, at)
				t.mu.Unlock()
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
