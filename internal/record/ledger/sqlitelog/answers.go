package sqlitelog

import (
	"runtime"
	"slices"
	"time"
)

const (
	// lot is how many answers are given at once.
	lot = 4
	// pacing is how long the answers of one batch may take where others keep the processors busy.
	pacing = 50 * time.Millisecond
)

// answers are given by a goroutine of their own, a lot at a time. Whoever has an answer mostly goes on at once with work of
// its own; given all together, the writer would stand in line behind all of them each time it comes back from the disk.
type answers struct {
	batches chan []*request
	ended   chan struct{}
}

func newAnswers() *answers {
	a := &answers{batches: make(chan []*request, 16), ended: make(chan struct{})}
	go a.run()
	return a
}

// give answers a batch, now or soon. The batch stays the caller's.
func (a *answers) give(batch []*request) {
	if len(batch) <= lot {
		answer(batch)
		return
	}
	a.batches <- slices.Clone(batch)
}

func (a *answers) run() {
	defer close(a.ended)
	for batch := range a.batches {
		for start := time.Now(); len(batch) > lot && time.Since(start) < pacing; batch = batch[lot:] {
			answer(batch[:lot])
			runtime.Gosched()
		}
		answer(batch)
	}
}

// close returns when all answers have been given.
func (a *answers) close() {
	close(a.batches)
	<-a.ended
}

func answer(batch []*request) {
	for _, r := range batch {
		close(r.done)
	}
}
