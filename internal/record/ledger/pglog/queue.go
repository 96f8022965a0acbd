package pglog

import (
	"sync"
	"sync/atomic"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
)

// request is one append that waits for the writer, which sets position or err and then closes done.
type request struct {
	entry     ledger.Entry
	frame     []byte // as the entry is stored
	sum       uint32 // of the entry, see [frame.Seal]
	expect    ledger.Position
	previous  ledger.Position // the entry before it in its stream, when it has a position
	abandoned atomic.Bool     // its caller no longer waits
	position  ledger.Position
	err       error
	done      chan struct{}
}

func newRequest(e ledger.Entry, expect ledger.Position) (*request, error) {
	r := &request{expect: expect, done: make(chan struct{})}
	if err := r.set(e); err != nil {
		return nil, err
	}
	return r, nil
}

// set gives the request an entry.
func (r *request) set(e ledger.Entry) (err error) {
	r.entry = e
	r.frame, r.sum, _, err = frame.AppendEntry(r.frame[:0], &e, r.expect)
	return err
}

// queue holds the appends that wait for the writer, in order of arrival.
type queue struct {
	mu      sync.Mutex
	filled  sync.Cond
	appends []*request
	closed  bool
}

func newQueue() *queue {
	q := &queue{}
	q.filled.L = &q.mu
	return q
}

// append adds a request; false means that the log is closed.
func (q *queue) append(r *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.appends = append(q.appends, r)
	q.filled.Signal()
	return true
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Signal()
}

// take waits for requests and returns up to limit of them, and not many more than maxBatchBytes. It returns none when the queue is closed
// and empty.
func (q *queue) take(limit int) []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.appends) == 0 && !q.closed {
		q.filled.Wait()
	}
	n, size := 0, 0
	for n < len(q.appends) && n < limit && size < maxBatchBytes {
		size += len(q.appends[n].frame)
		n++
	}
	batch := q.appends[:n:n]
	q.appends = q.appends[n:]
	return batch
}
