package sqlitelog

import (
	"sync"

	"github.com/trapezehq/trapeze/internal/ledger"
)

const (
	tailEntries = 4096
	tailBytes   = 4 << 20
)

// tail holds the last committed position and the newest entries, so that followers which keep up never read the
// database or decode anything.
type tail struct {
	mu      sync.Mutex
	last    ledger.Position
	entries []ledger.Entry // contiguous, ending at last
	sizes   []int          // encoded size of each
	bytes   int
	changed chan struct{} // closed at the next commit
}

func newTail(last ledger.Position) *tail {
	return &tail{last: last, changed: make(chan struct{})}
}

// add publishes a committed batch and wakes the followers.
func (t *tail) add(entries []ledger.Entry, sizes []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// Only the front is cut off and only the end appended to: slices given to followers stay as they are.
	t.entries = append(t.entries, entries...)
	t.sizes = append(t.sizes, sizes...)
	for _, n := range sizes {
		t.bytes += n
	}
	drop := max(0, len(t.entries)-tailEntries)
	for i := range drop {
		t.bytes -= t.sizes[i]
	}
	for drop < len(t.sizes) && t.bytes > tailBytes {
		t.bytes -= t.sizes[drop]
		drop++
	}
	t.entries, t.sizes = t.entries[drop:], t.sizes[drop:]
	t.last = entries[len(entries)-1].Position
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *tail) position() ledger.Position {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// after returns what is known of the entries after a position: the entries themselves; or behind = true if they
// must be read from the database; or, if there are none, the channel that closes when there may be some.
func (t *tail) after(p ledger.Position, limit int) (entries []ledger.Entry, behind bool, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p >= t.last {
		return nil, false, t.changed
	}
	missing := int(t.last - p) //nolint:gosec // a count of stored entries
	if missing > len(t.entries) {
		return nil, true, nil
	}
	from := len(t.entries) - missing
	to := min(from+limit, len(t.entries))
	return t.entries[from:to:to], false, nil
}
