package sqlitelog

import (
	"runtime"
	"slices"
	"time"
)

const (
	// wakeChunk is the number of appends that are answered at once.
	wakeChunk = 4
	// maxPacing is the greatest time for answering one batch while other goroutines use the processors.
	maxPacing = 50 * time.Millisecond
)

// responder answers appends on a goroutine of its own, a few at a time. A goroutine that is answered mostly continues with
// other work at once; if all were answered together, the writer would queue for a processor behind them after each fsync.
type responder struct {
	batches chan []*request
	ended   chan struct{}
}

func newResponder() *responder {
	r := &responder{batches: make(chan []*request, 16), ended: make(chan struct{})}
	go r.run()
	return r
}

// answer answers a batch, now or soon. The caller may reuse the slice.
func (r *responder) answer(batch []*request) {
	if len(batch) <= wakeChunk {
		answerAll(batch)
		return
	}
	r.batches <- slices.Clone(batch)
}

func (r *responder) run() {
	defer close(r.ended)
	for batch := range r.batches {
		for start := time.Now(); len(batch) > wakeChunk && time.Since(start) < maxPacing; batch = batch[wakeChunk:] {
			answerAll(batch[:wakeChunk])
			runtime.Gosched()
		}
		answerAll(batch)
	}
}

// close returns after every append has been answered.
func (r *responder) close() {
	close(r.batches)
	<-r.ended
}

func answerAll(batch []*request) {
	for _, r := range batch {
		close(r.done)
	}
}
