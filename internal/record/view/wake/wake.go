package wake

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Hub says how far views are, and wakes those who wait. A waiter holds nothing but a channel. Of what a watcher is told is
// under a key of type K; the zero key means everything. Its methods are safe for many goroutines.
type Hub[K comparable] struct {
	at atomic.Uint64 // ledger.Position

	mu       sync.Mutex
	waiters  map[chan struct{}]ledger.Position
	watchers map[K]map[chan struct{}]struct{}
}

// New returns a hub at position 0.
func New[K comparable]() *Hub[K] {
	return &Hub[K]{waiters: map[chan struct{}]ledger.Position{}, watchers: map[K]map[chan struct{}]struct{}{}}
}

// Position is how far the views are.
func (f *Hub[K]) Position() ledger.Position { return ledger.Position(f.at.Load()) }

// Publish follows a commit. Watchers are called first: who sees the position finds them called. everybody wakes also
// those whose position is not reached, to look at the error.
func (f *Hub[K]) Publish(at ledger.Position, touched []K, everybody bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.watchers) > 0 {
		var all K
		f.signal(all)
		for _, key := range touched {
			f.signal(key)
		}
	}
	f.at.Store(uint64(at))
	for ch, want := range f.waiters {
		if everybody || want <= at {
			close(ch)
			delete(f.waiters, ch)
		}
	}
}

func (f *Hub[K]) signal(key K) {
	for ch := range f.watchers[key] {
		select {
		case ch <- struct{}{}:
		default: // one is pending
		}
	}
}

// Wait returns when the views are at a position, ctx ends, or failed, which is asked when they are not, has an error.
func (f *Hub[K]) Wait(ctx context.Context, at ledger.Position, failed func() error) error {
	for {
		if f.Position() >= at {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		ch := make(chan struct{})
		f.mu.Lock()
		f.waiters[ch] = at
		f.mu.Unlock()
		// Both may have changed before anybody knew of the waiter.
		if f.Position() >= at {
			f.leave(ch)
			return nil
		}
		if err := failed(); err != nil {
			f.leave(ch)
			return err
		}
		select {
		case <-ch:
		case <-ctx.Done():
			f.leave(ch)
			return ctx.Err()
		}
	}
}

func (f *Hub[K]) leave(ch chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.waiters, ch)
}

// Watch calls for a signal whenever what is under a key may have changed. The channel holds one pending signal and is never
// closed; stop ends it.
func (f *Hub[K]) Watch(key K) (changed <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watchers[key] == nil {
		f.watchers[key] = map[chan struct{}]struct{}{}
	}
	f.watchers[key][ch] = struct{}{}
	return ch, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watchers[key], ch)
		if len(f.watchers[key]) == 0 {
			delete(f.watchers, key)
		}
	}
}
