package tail

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Bounds of what is kept.
const (
	MaxEntries = 2048
	MaxBytes   = 16 << 20 // less than two large batches would put every follower behind after one
)

// Tail holds the position of a ledger, as far as its process knows, and the newest entries up to it.
type Tail struct {
	mu      sync.Mutex
	last    ledger.Position
	batches []batch // contiguous, ending at last
	entries int     // in all batches
	bytes   int
	changed chan struct{} // closed when the position changes
}

// batch is entries that were added together, with their size in bytes. Followers keep them: they never change.
type batch struct {
	entries []ledger.Entry
	bytes   int
}

// New returns the tail of a ledger that ends at a position.
func New(last ledger.Position) *Tail {
	return &Tail{last: last, changed: make(chan struct{})}
}

// Add adds the entries after the position, with their size in bytes, and wakes the followers.
func (t *Tail) Add(entries []ledger.Entry, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.batches = append(t.batches, batch{entries, bytes})
	t.entries += len(entries)
	t.bytes += bytes
	drop := 0
	for ; drop < len(t.batches) && (t.entries > MaxEntries || t.bytes > MaxBytes); drop++ {
		t.entries -= len(t.batches[drop].entries)
		t.bytes -= t.batches[drop].bytes
		t.batches[drop] = batch{}
	}
	t.batches = t.batches[drop:]
	t.moveTo(entries[len(entries)-1].Position)
}

// Position returns the position of the newest entry.
func (t *Tail) Position() ledger.Position {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// Size returns the number of entries that are kept, and their size in bytes.
func (t *Tail) Size() (entries, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entries, t.bytes
}

// After returns some of the entries after a position; or behind = true if they must be read from the database; or, if there
// are none, the channel that is closed when there are.
func (t *Tail) After(p ledger.Position, limit int) (entries []ledger.Entry, behind bool, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p >= t.last {
		return nil, false, t.changed
	}
	missing := int(t.last - p) //nolint:gosec // a count of stored entries
	first := len(t.batches)
	for ; first > 0 && missing > 0; first-- {
		missing -= len(t.batches[first-1].entries)
	}
	if missing > 0 {
		return nil, true, nil
	}
	entries, rest := t.batches[first].entries[-missing:], t.batches[first+1:]
	if len(entries) >= limit || len(rest) == 0 {
		n := min(limit, len(entries))
		return entries[:n:n], false, nil
	}
	some := make([]ledger.Entry, 0, min(limit, int(t.last-p))) //nolint:gosec // as above
	some = append(some, entries...)
	for _, b := range rest { // a follower that is behind gets many small ones at once
		some = append(some, b.entries[:min(limit-len(some), len(b.entries))]...)
		if len(some) == limit {
			break
		}
	}
	return some, false, nil
}

// Drop forgets the entries, which followers then read from the database.
func (t *Tail) Drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.batches, t.entries, t.bytes = nil, 0, 0
}

// Skip sets the position without the entries up to it, which followers then read from the database.
func (t *Tail) Skip(last ledger.Position) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.batches, t.entries, t.bytes = nil, 0, 0
	t.moveTo(last)
}

// moveTo sets the position and wakes the followers. It needs t.mu.
func (t *Tail) moveTo(last ledger.Position) {
	t.last = last
	close(t.changed)
	t.changed = make(chan struct{})
}

// Source is the ledger of a tail.
type Source struct {
	Read    func(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error)
	Closing <-chan struct{} // is closed when the ledger is
	Closed  error           // of reads after that
	Batch   int             // the greatest number of entries given to a follower at once
	Retry   time.Duration   // after which a read that was unavailable is tried again
}

// Follow is [ledger.Ledger.Follow] of the ledger of a tail. It goes on after reads that were unavailable.
func (t *Tail) Follow(ctx context.Context, after ledger.Position, of Source, fn func([]ledger.Entry) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		select {
		case <-of.Closing:
			return of.Closed
		default:
		}
		entries, behind, changed := t.After(after, of.Batch)
		var outage <-chan time.Time
		if behind {
			var err error
			if entries, err = of.Read(ctx, after, of.Batch); err != nil && len(entries) == 0 { // those before a damaged entry come first
				if !errors.Is(err, ledger.ErrUnavailable) || errors.Is(err, of.Closed) {
					return err
				}
				outage = time.After(of.Retry)
			}
		}
		if len(entries) > 0 {
			if err := fn(entries); err != nil {
				return err
			}
			after = entries[len(entries)-1].Position
			continue
		}
		if behind && outage == nil { // a replica that lags
			outage = time.After(of.Retry)
		}
		select {
		case <-changed:
		case <-outage:
		case <-ctx.Done():
		case <-of.Closing:
		}
	}
}
