package pglog

import (
	"bytes"
	"slices"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// maxOwn is the number of entries that are kept until the listener has read them: more than that, and it is so late that it decodes them.
const maxOwn = 4096

// own is what this front end commits. Where the listener reads the same bytes it takes the entry as it was appended, and decodes nothing.
type own struct {
	mu       sync.Mutex
	requests map[ledger.Position]*request
}

// add keeps the entries of a batch that have a position. Whether it is committed is not known yet.
func (o *own) add(batch []*request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.requests == nil || len(o.requests) > maxOwn {
		o.requests = map[ledger.Position]*request{}
	}
	for _, r := range batch {
		if r.err == nil {
			o.requests[r.position] = r
		}
	}
}

// take returns the entry of a row, and forgets it; false: it is not the one that was appended here. There is nothing in a nil own.
func (o *own) take(row *row) (e ledger.Entry, ok bool) {
	if o == nil {
		return e, false
	}
	o.mu.Lock()
	r := o.requests[row.position]
	delete(o.requests, row.position)
	o.mu.Unlock()
	if r == nil || r.entry.Stream != row.stream || r.previous != row.previous || !bytes.Equal(r.frame, row.frame) {
		return e, false
	}
	e = r.entry
	e.Position, e.Events = row.position, slices.Clone(e.Events) // the caller of Append has them, too
	return e, true
}
