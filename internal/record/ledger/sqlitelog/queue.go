package sqlitelog

import (
	"sync"
	"sync/atomic"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// request is one append that waits for the writer. The writer sets position or err, closes done and forgets it.
type request struct {
	entry     ledger.Entry
	bytes     []byte
	expect    ledger.Position
	abandoned atomic.Bool // nobody waits any more
	position  ledger.Position
	err       error
	done      chan struct{}
}

var requests = sync.Pool{New: func() any { return new(request) }}

// maxKept is the most bytes of an entry whose room is kept for the next.
const maxKept = 64 << 10

func newRequest() *request {
	r, _ := requests.Get().(*request)
	r.done = make(chan struct{})
	return r
}

// free gives the request back for the next append. Only whoever had its answer, or never queued it, may do so.
func (r *request) free() {
	if cap(r.bytes) > maxKept {
		return
	}
	r.entry, r.bytes, r.expect, r.position, r.err, r.done = ledger.Entry{}, r.bytes[:0], 0, 0, nil, nil
	requests.Put(r)
}

// queue is what waits for the writer, in order of arrival.
type queue struct {
	mu      sync.Mutex
	filled  sync.Cond
	appends []*request
	jobs    []func(*writer)
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

// job adds work for the writer's goroutine; false means that the log is closed.
func (q *queue) job(fn func(*writer)) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.jobs = append(q.jobs, fn)
	q.filled.Signal()
	return true
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Signal()
}

// take waits for work and moves up to limit requests, and not many more than maxBatchBytes, to the end of batch.
// All jobs come with it. open is false when the queue is closed and empty.
func (q *queue) take(batch []*request, limit int) (_ []*request, jobs []func(*writer), open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.appends) == 0 && len(q.jobs) == 0 {
		if q.closed {
			return nil, nil, false
		}
		q.filled.Wait()
	}
	n, size := 0, 0
	for n < len(q.appends) && n < limit && size < maxBatchBytes {
		size += len(q.appends[n].bytes)
		n++
	}
	batch = append(batch, q.appends[:n]...)
	rest := copy(q.appends, q.appends[n:])
	clear(q.appends[rest:]) // let go of the requests
	q.appends = q.appends[:rest]
	jobs, q.jobs = q.jobs, nil
	return batch, jobs, true
}
