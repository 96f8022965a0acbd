package stream

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Workers are goroutines that make decisions for the goroutines of calls. A decision needs a stack several times as large as the call
// that then waits for its entry to be stored: without workers each of a thousand connections would hold a stack for a decision. A
// decision never waits for a worker: there are as many as decisions run at once, and a few of them stay for the next.
type Workers struct {
	jobs chan job
	stop chan struct{}
	idle atomic.Int64
	most int64
	end  sync.Once
}

type job struct {
	do   func()
	done chan any // gets what the job panicked with
}

// waits are the channels on which calls wait for their jobs.
var waits = sync.Pool{New: func() any { return make(chan any, 1) }}

// NewWorkers returns workers without a goroutine; each starts with the first job that finds no other idle.
func NewWorkers() *Workers {
	return &Workers{jobs: make(chan job), stop: make(chan struct{}), most: 2 * int64(runtime.GOMAXPROCS(0))}
}

// Run calls f on a worker and returns after it. A panic of f goes on in the caller of Run, with the stack of f in its text.
func (w *Workers) Run(f func()) {
	done, _ := waits.Get().(chan any)
	j := job{do: f, done: done}
	select {
	case w.jobs <- j:
	default:
		go w.work(j)
	}
	p := <-done
	waits.Put(done)
	if p != nil {
		panic(p)
	}
}

// Close ends each worker after its job.
func (w *Workers) Close() { w.end.Do(func() { close(w.stop) }) }

// work does one job and then others, unless enough workers wait for them.
func (w *Workers) work(j job) {
	for {
		j.run()
		if w.idle.Add(1) > w.most {
			w.idle.Add(-1)
			return
		}
		select {
		case j = <-w.jobs:
			w.idle.Add(-1)
		case <-w.stop:
			return
		}
	}
}

func (j job) run() {
	defer func() {
		p := recover()
		if p != nil {
			p = fmt.Errorf("%v\n%s", p, debug.Stack())
		}
		j.done <- p
	}()
	j.do()
}
