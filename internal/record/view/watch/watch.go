package watch

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Hub publishes the position of the views, and wakes waiters. A waiter holds nothing but a channel. A watcher is signalled
// of changes under a key of type K; the zero key means all changes. A Hub is safe for concurrent use.
type Hub[K comparable] struct {
	at atomic.Uint64 // ledger.Position

	mu       sync.Mutex
	waiters  map[chan struct{}]ledger.Position
	watchers map[K]map[chan struct{}]struct{}
	offers   map[K]*offer[K] // of which not all watchers have been told
}

// New returns a hub at position 0.
func New[K comparable]() *Hub[K] {
	return &Hub[K]{waiters: map[chan struct{}]ledger.Position{}, watchers: map[K]map[chan struct{}]struct{}{}, offers: map[K]*offer[K]{}}
}

// Position returns the position of the views.
func (h *Hub[K]) Position() ledger.Position { return ledger.Position(h.at.Load()) }

// Publish announces a commit. It signals the watchers of touched keys before it publishes the position. all also wakes the
// waiters for later positions, to check for an error.
func (h *Hub[K]) Publish(at ledger.Position, touched []K, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.watchers) > 0 {
		var every K
		h.signal(every)
		for _, key := range touched {
			h.signal(key)
		}
	}
	h.reach(at, all)
}

// Reach announces a position, and signals the watchers of keys alone: those of all changes are signalled by a later Publish.
func (h *Hub[K]) Reach(at ledger.Position, keys []K) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.watchers) > 0 {
		for _, key := range keys {
			h.signal(key)
		}
	}
	h.reach(at, false)
}

func (h *Hub[K]) reach(at ledger.Position, all bool) {
	h.at.Store(uint64(at))
	for ch, want := range h.waiters {
		if all || want <= at {
			close(ch)
			delete(h.waiters, ch)
		}
	}
}

// Watched reports whether anybody watches one of the keys.
func (h *Hub[K]) Watched(keys []K) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(keys, func(key K) bool { return len(h.watchers[key]) > 0 })
}

// signal reports whether a watcher of the key had no signal pending.
func (h *Hub[K]) signal(key K) (woken bool) {
	for ch := range h.watchers[key] {
		select {
		case ch <- struct{}{}:
			woken = true
		default: // one is pending
		}
	}
	return woken
}

// Wait returns when the views reach a position, ctx ends, or failed returns an error, which is called while they lag.
func (h *Hub[K]) Wait(ctx context.Context, at ledger.Position, failed func() error) error {
	for {
		if h.Position() >= at {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		ch := make(chan struct{})
		h.mu.Lock()
		h.waiters[ch] = at
		h.mu.Unlock()
		// Both may have changed before the waiter was added.
		if h.Position() >= at {
			h.leave(ch)
			return nil
		}
		if err := failed(); err != nil {
			h.leave(ch)
			return err
		}
		select {
		case <-ch:
		case <-ctx.Done():
			h.leave(ch)
			return ctx.Err()
		}
	}
}

func (h *Hub[K]) leave(ch chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.waiters, ch)
}

// Watch signals whenever something under a key may have changed. The channel holds one pending signal and is never closed;
// stop ends it.
func (h *Hub[K]) Watch(key K) (changed <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers[key] == nil {
		h.watchers[key] = map[chan struct{}]struct{}{}
	}
	h.watchers[key][ch] = struct{}{}
	return ch, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers[key], ch)
		if len(h.watchers[key]) == 0 {
			delete(h.watchers, key)
		}
	}
}
