package conversations

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

const (
	cached     = 2048 // folds of conversations that are kept in memory
	remembered = 1000 // idempotency keys that a conversation remembers at least
)

// StreamOf is the stream of a conversation.
func StreamOf(workspace, id string) ledger.Stream {
	return ledger.StreamOf(workspace, "conversation", id)
}

// Store is the conversations of one ledger, as other use cases reach them. Its methods are safe for many goroutines.
type Store struct {
	stream.Kind[conversation.State, conversation.Event]
	ledger ledger.Ledger
	views  view.Store
	tasks  taskstore.Finder
}

// NewStore returns the conversations of a ledger and the views that follow it.
func NewStore(l ledger.Ledger, v view.Store, tasks taskstore.Finder, now func() time.Time) (*Store, error) {
	kind, err := stream.New("conversation", l, conversation.Fold, now, conversation.Events, stream.Options[conversation.State, conversation.Event]{Cached: cached, Remember: remembered})
	if err != nil {
		return nil, err
	}
	return &Store{Kind: kind, ledger: l, views: v, tasks: tasks}, nil
}

// turns are some turns of a conversation, from the views, once they have all of it.
func (st *Store) turns(ctx context.Context, workspace string, f stream.Folded[conversation.State], after, limit int) ([]conversation.Turn, error) {
	if limit <= 0 {
		return nil, nil
	}
	if err := st.views.Wait(ctx, f.Head); err != nil {
		return nil, stream.Unavailable(err)
	}
	list, err := st.views.Turns(ctx, workspace, f.State.ID, after, limit)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	return list, nil
}

// LastTurns are the last turns of a conversation, at most so many, oldest first, without those that the reader does not read.
func (st *Store) LastTurns(ctx context.Context, workspace string, f stream.Folded[conversation.State], r memory.Reader, most int) ([]conversation.Turn, error) {
	most = min(most, f.State.Turns)
	list, err := st.turns(ctx, workspace, f, f.State.Turns-most, most)
	return readable(f.State, r, list), err
}

// readable are those of some turns that a reader reads.
func readable(s conversation.State, r memory.Reader, turns []conversation.Turn) []conversation.Turn {
	return slices.DeleteFunc(turns, func(t conversation.Turn) bool { return !conversation.MayReadTurn(s, r, t) })
}
