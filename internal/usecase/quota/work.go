package quota

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// maxRest is how long the calls of a principal wait at most after one of them.
const maxRest = time.Second

// maxWaiting is how many calls of one principal may wait for their turn.
const maxWaiting = 16

// Work bounds the calls of one principal that take the processor and change nothing: previews, searches, checks against a schema.
// As many as half of the processors, and at least one, run at once, and a few wait for their turn; so one principal's calls leave
// most of the processors to others. A nil Work bounds nothing.
type Work struct {
	most, waiting int
	mu            sync.Mutex
	turns         map[string]*turn // of principals that have calls now
}

type turn struct {
	slots chan struct{}
	calls int // that run or wait
}

// NewWork returns a bound of so many calls at once for each principal; 0 means half of the processors.
func NewWork(most int) *Work {
	if most <= 0 {
		most = max(runtime.GOMAXPROCS(0)/2, 1)
	}
	return &Work{most: most, waiting: maxWaiting, turns: map[string]*turn{}}
}

// Enter waits for the caller's turn, until ctx ends. leave ends it. It refuses (overloaded) a caller of whom enough calls wait.
func (w *Work) Enter(ctx context.Context, c caller.Caller) (leave func(), err error) {
	if w == nil || c.IsSystem() {
		return func() {}, nil
	}
	key := c.Workspace + "/" + c.String()
	w.mu.Lock()
	t := w.turns[key]
	if t == nil {
		t = &turn{slots: make(chan struct{}, w.most)}
		w.turns[key] = t
	}
	if calls := t.calls; calls >= w.most+w.waiting {
		w.mu.Unlock()
		return nil, refusal.New(refusal.Overloaded, "try again in 1 s, and make fewer such calls at once",
			"%d previews, searches or checks of %s are under way or wait", calls, c.Principal).With("retry_seconds", 1)
	}
	t.calls++
	w.mu.Unlock()

	select {
	case t.slots <- struct{}{}:
		start := time.Now()
		return func() { w.rest(key, t, time.Since(start)) }, nil
	case <-ctx.Done():
		w.left(key, t)
		return nil, stream.Unavailable(ctx.Err())
	}
}

// rest ends a turn. If other calls of the principal wait, the next begins after as long as this one took: so calls one after the
// other take all of a processor, and many at once leave half of it.
func (w *Work) rest(key string, t *turn, took time.Duration) {
	w.mu.Lock()
	waits := t.calls > 1
	w.mu.Unlock()
	end := func() { <-t.slots; w.left(key, t) }
	if !waits {
		end()
		return
	}
	time.AfterFunc(min(took, maxRest), end)
}

func (w *Work) left(key string, t *turn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.calls--; t.calls == 0 {
		delete(w.turns, key)
	}
}
