package sqlitelog

import (
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

const (
	tailEntries = 4096
	tailBytes   = 2 * maxBatchBytes // less would put every follower behind after one large batch
)

// tail holds the last committed position and the newest entries, so that followers that keep up never read the database or
// decode an entry.
type tail struct {
	mu      sync.Mutex
	last    ledger.Position
	batches []batch // contiguous, ending at last
	entries int     // in all batches
	bytes   int
	changed chan struct{} // closed at the next commit
}

// batch is the entries of one commit, with their size in bytes. Followers keep them: they never change.
type batch struct {
	entries []ledger.Entry
	bytes   int
}

func newTail(last ledger.Position) *tail {
	return &tail{last: last, changed: make(chan struct{})}
}

// add publishes a committed batch and wakes the followers.
func (t *tail) add(entries []ledger.Entry, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.batches = append(t.batches, batch{entries, bytes})
	t.entries += len(entries)
	t.bytes += bytes
	drop := 0
	for ; drop < len(t.batches) && (t.entries > tailEntries || t.bytes > tailBytes); drop++ {
		t.entries -= len(t.batches[drop].entries)
		t.bytes -= t.batches[drop].bytes
		t.batches[drop] = batch{}
	}
	t.batches = t.batches[drop:]
	t.last = entries[len(entries)-1].Position
	close(t.changed)
	t.changed = make(chan struct{})
}

// drop forgets the entries, which followers then read from the database.
func (t *tail) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.batches, t.entries, t.bytes = nil, 0, 0
}

func (t *tail) position() ledger.Position {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// after returns some of the entries after a position; or behind = true if they must be read from the database; or, if there
// are none, the channel that is closed at the next commit.
func (t *tail) after(p ledger.Position, limit int) (entries []ledger.Entry, behind bool, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p >= t.last {
		return nil, false, t.changed
	}
	missing := int(t.last - p) //nolint:gosec // a count of stored entries
	for i := len(t.batches) - 1; i >= 0; i-- {
		b := t.batches[i].entries
		if missing > len(b) {
			missing -= len(b)
			continue
		}
		from := len(b) - missing
		to := min(from+limit, len(b))
		return b[from:to:to], false, nil
	}
	return nil, true, nil
}
