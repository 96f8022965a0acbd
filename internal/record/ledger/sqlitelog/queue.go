package sqlitelog

import (
	"sync"
	"sync/atomic"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
)

// request is one append that waits for the writer. The writer sets position or err; the responder closes done.
type request struct {
	entry     ledger.Entry
	bytes     []byte // as they are stored
	sum       uint32 // of the entry, see [frame.Seal]
	size      int    // of the entry, in bytes
	expect    ledger.Position
	read      bool        // something cannot be read without it, see [ledger.ForRead]
	abandoned atomic.Bool // its caller no longer waits
	position  ledger.Position
	err       error
	done      chan struct{}
}

var requests = sync.Pool{New: func() any { return new(request) }}

// maxKept is the greatest capacity of a buffer that is kept for the next request.
const maxKept = 64 << 10

func newRequest() *request {
	r, _ := requests.Get().(*request)
	r.done = make(chan struct{})
	return r
}

// seal seals its entry. Inlined, its copies would be on the stack of every append.
//
//go:noinline
func (r *request) seal(s ledger.Sealer) (err error) {
	r.entry, err = s.Seal(r.entry)
	return err
}

// set makes it a request to append its entry.
func (r *request) set(expect ledger.Position) (err error) {
	r.expect = expect
	r.bytes, r.sum, r.size, err = frame.AppendEntry(r.bytes[:0], &r.entry, expect)
	return err
}

// free returns the request to the pool. Call it only after done is closed, or if it was never queued.
func (r *request) free() {
	if cap(r.bytes) > maxKept {
		return
	}
	r.entry, r.bytes, r.size, r.expect, r.read, r.position, r.err, r.done = ledger.Entry{}, r.bytes[:0], 0, 0, false, 0, nil, nil
	requests.Put(r)
}

// queue holds the work of the writer, in order of arrival.
type queue struct {
	mu      sync.Mutex
	filled  sync.Cond
	appends []*request
	jobs    []func(*writer)
	busy    bool // somebody has the writer
	own     bool // its goroutine does
	closed  bool
}

func newQueue() *queue {
	q := &queue{}
	q.filled.L = &q.mu
	return q
}

// enter gives the writer to the caller if nobody has it and nothing waits for it.
func (q *queue) enter() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.busy || len(q.appends) > 0 || len(q.jobs) > 0 {
		return false
	}
	q.busy = true
	return true
}

// leave gives it back.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
	if q.closed || len(q.appends) > 0 || len(q.jobs) > 0 {
		q.filled.Signal()
	}
}

// append adds a request; false means that the log is closed.
func (q *queue) append(r *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.appends = append(q.appends, r)
	if !q.busy {
		q.filled.Signal()
	}
	return true
}

// job adds a function for the goroutine of the writer; false means that the log is closed.
func (q *queue) job(fn func(*writer)) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.jobs = append(q.jobs, fn)
	if !q.busy {
		q.filled.Signal()
	}
	return true
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Signal()
}

// take waits for work and appends up to limit requests, and not many more than maxBatchBytes, to batch. It returns all
// jobs. open is false when the queue is closed and empty.
func (q *queue) take(batch []*request, limit int) (_ []*request, jobs []func(*writer), open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.own {
		q.own, q.busy = false, false
	}
	for q.busy || len(q.appends) == 0 && len(q.jobs) == 0 {
		if q.closed && !q.busy {
			return nil, nil, false
		}
		q.filled.Wait()
	}
	q.own, q.busy = true, true
	n, size := 0, 0
	for n < len(q.appends) && n < limit && size < maxBatchBytes {
		size += q.appends[n].size
		n++
	}
	batch = append(batch, q.appends[:n]...)
	rest := copy(q.appends, q.appends[n:])
	clear(q.appends[rest:]) // release the requests
	q.appends = q.appends[:rest]
	jobs, q.jobs = q.jobs, nil
	return batch, jobs, true
}
