package history

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Event is an entry as the event stream tells it: what happened, to which task, by whom; not the content.
type Event struct {
	Position ledger.Position `json:"position"`
	Time     time.Time       `json:"time"`
	Kind     string          `json:"kind"` // task, agent, channel, token, artifact, …
	ID       string          `json:"id"`   // of the task, agent, channel, token, …
	Actor    string          `json:"actor"`
	Events   []string        `json:"events"`
}

// Follow calls fn with what happens after a position, in order, until ctx ends or fn fails. Agents are told of the
// tasks that they have a part in, of the memory items and conversations that they may read, of other agents and of channels; people at a desk, of its tickets too; those who may read anything, of all but reads.
func (h *History) Follow(ctx context.Context, c caller.Caller, after ledger.Position, fn func(Event) error) error {
	if err := c.May(identity.ReadOwn, "follow events"); err != nil {
		return h.access.Refused(ctx, c.Workspace, c.Actor(), "follow", "", err)
	}
	turn := catchUp{h: h, c: c, leave: func() {}}
	defer func() { turn.leave() }()
	if err := turn.enter(ctx, after); err != nil {
		return err
	}
	l := h.listen(c, after)
	return h.ledger.Follow(ctx, after, func(entries []ledger.Entry) error {
		told, err := l.told(ctx, entries)
		turn.leave() // the reader may be slow
		if err != nil {
			return err
		}
		for _, n := range told {
			if err := fn(n); err != nil {
				return err
			}
		}
		return turn.enter(ctx, entries[len(entries)-1].Position)
	})
}

// CanFollow refuses to follow the record from a position if entries after it are put away in a segment that is not attached.
func (h *History) CanFollow(ctx context.Context, after ledger.Position) error {
	last, err := h.ledger.Last(ctx)
	if err != nil || last <= after {
		return err
	}
	list, err := proof.Detached(ctx, h.ledger)
	if err != nil {
		return stream.Unavailable(err)
	}
	for _, away := range list {
		if away.Last > after {
			refused, _ := refusal.As(stream.Unavailable(away.PutAway))
			refused.Hint += fmt.Sprintf("; or start after position %d", away.Last)
			return refused
		}
	}
	return nil
}

// catchUp is the turns of a stream of events that is behind the record: the entries of a batch are read, and chosen from, in a turn of the
// caller. A stream that has caught up takes none.
type catchUp struct {
	h     *History
	c     caller.Caller
	leave func() // ends the turn; it may be called several times
}

// enter waits for the turn of the batch after a position, if there is one.
func (u *catchUp) enter(ctx context.Context, after ledger.Position) error {
	last, err := u.h.ledger.Last(ctx)
	if err != nil || last <= after {
		return err
	}
	leave, err := u.h.work.EnterCatchUp(ctx, u.c)
	if err == nil {
		u.leave = sync.OnceFunc(leave)
	}
	return err
}
