package sqlview

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/trapezehq/trapeze/internal/ledger"
)

// fresh says how far the views are, and wakes those who wait. A waiter holds nothing but a channel.
type fresh struct {
	at atomic.Uint64 // ledger.Position

	mu       sync.Mutex
	waiters  map[chan struct{}]ledger.Position
	watchers map[inbox]map[chan struct{}]struct{}
}

func newFresh() *fresh {
	return &fresh{waiters: map[chan struct{}]ledger.Position{}, watchers: map[inbox]map[chan struct{}]struct{}{}}
}

func (f *fresh) position() ledger.Position { return ledger.Position(f.at.Load()) }

// publish follows a commit. Watchers are called first: who sees the position finds them called. everybody wakes also
// those whose position is not reached, to look at the error.
func (f *fresh) publish(at ledger.Position, touched []inbox, everybody bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.watchers) > 0 {
		f.signal(inbox{})
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

func (f *fresh) signal(key inbox) {
	for ch := range f.watchers[key] {
		select {
		case ch <- struct{}{}:
		default: // one is pending
		}
	}
}

func (f *fresh) wait(ctx context.Context, at ledger.Position, failed func() error) error {
	for {
		if f.position() >= at {
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
		if f.position() >= at {
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

func (f *fresh) leave(ch chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.waiters, ch)
}

func (f *fresh) watch(key inbox) (changed <-chan struct{}, stop func()) {
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
