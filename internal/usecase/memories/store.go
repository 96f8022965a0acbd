package memories

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// kind is the kind of the streams of memory items.
const kind = "memory"

// cached is how many folds of items are kept in memory. Items of more than 32 KiB are not.
const cached = 2048

// remembered is how many of the newest idempotency keys of one item count at least.
const remembered = 1000

// Envelopes are the sealed envelopes of tasks.
type Envelopes interface {
	// Bytes are those of an envelope of a task, as it was sealed or as it was packed for a receiver.
	Bytes(ctx context.Context, workspace, task, digest string) ([]byte, error)
}

// Store is the memory items of one ledger, as other use cases reach them. Its methods are safe for many goroutines.
type Store struct {
	stream.Kind[memory.State, memory.Event]
	ledger    ledger.Ledger
	views     view.Store
	tasks     taskstore.Finder
	envelopes Envelopes
	talks     *conversations.Store
	now       func() time.Time
	heard     atomic.Uint64 // up to where the views have all items that this process has heard of; 0: it has heard of no entry
}

// NewStore returns the memory items of a ledger and the views that follow it.
func NewStore(l ledger.Ledger, v view.Store, tasks taskstore.Finder, e Envelopes, c *conversations.Store, now func() time.Time) (*Store, error) {
	items, err := stream.New(kind, l, memory.Fold, now, memory.Events, stream.Options[memory.State, memory.Event]{Cached: cached, Remember: remembered, Weigh: weight})
	if err != nil {
		return nil, err
	}
	return &Store{Kind: items, ledger: l, views: v, tasks: tasks, envelopes: e, talks: c, now: now}, nil
}

// Hear tells the store of entries that other servers may have made. Call it with all of them, in order.
func (st *Store) Hear(entries []ledger.Entry) {
	st.heard.CompareAndSwap(0, uint64(entries[0].Position)) // of what came before it was told nothing
	for _, e := range entries {
		if _, of, _ := e.Stream.Parts(); of != kind {
			continue
		}
		for heard := st.heard.Load(); heard < uint64(e.Position) && !st.heard.CompareAndSwap(heard, uint64(e.Position)); {
			heard = st.heard.Load()
		}
	}
}

// haveItems reports whether the views have every change of an item before a call, without a look at the end of the record. False: that is not known.
func (st *Store) haveItems(c caller.Caller) bool {
	heard := st.heard.Load()
	return c.Learned && heard > 0 && uint64(st.views.Position()) >= heard
}

// StreamOf is the stream of a memory item.
func StreamOf(workspace, id string) ledger.Stream { return ledger.StreamOf(workspace, kind, id) }

// weight is about how many bytes an item takes in memory.
func weight(s *memory.State) int {
	n := 1024
	for _, v := range s.Versions {
		n += 256 + len(v.Title) + len(v.Text)
	}
	return n
}
