package quota

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// maxRest is how long the calls of a principal wait at most after one of them.
const maxRest = time.Second

// Of one principal, so many reads, and so many large requests, may wait for their turn. A large request waits with its body in memory.
const (
	maxWaiting = 16
	maxBodies  = 64
)

// Work bounds the calls of one principal that take the processor, in five lanes: reads, such as previews and searches; changes
// whose result is checked, or whose content is sealed, at some length; the decoding of large requests, before their call; pages for
// people, which are made of several calls; and what streams of events read that are behind the record. In each lane as many as half of the processors, and at least one, run at once, and others wait for
// their turn; so one principal's calls leave processors to others, and its reads never keep it from finishing its work. A nil Work
// bounds nothing.
type Work struct {
	most   int
	mu     sync.Mutex
	turns  map[lane]*turn // of principals that have calls now
	share  *share         // of principals
	spaces *share         // of workspaces
}

type lane struct {
	workspace, principal string
	work                 work
}

// work is what the calls of a lane do.
type work int

const (
	read work = iota
	change
	body
	page
	catchUp
)

// full refuses one more call in a lane with so many.
func (k work) full(c caller.Caller, calls, most int) error {
	switch {
	case k == read && calls >= most+maxWaiting:
		return refusal.New(refusal.Overloaded, "try again in 1 s, and make fewer such calls at once",
			"%d previews or searches of %s are under way or wait", calls, c.Principal).With("retry_seconds", 1)
	case k == page && calls >= most+maxWaiting:
		return refusal.New(refusal.Overloaded, "try again in 1 s, and ask for fewer pages at once",
			"%d pages for %s are being made or wait", calls, c.Principal).With("retry_seconds", 1)
	case k == body && calls >= most+maxBodies:
		return refusal.New(refusal.Overloaded, "try again in 1 s, make fewer such calls at once, or [store large content as an artifact](artifact put) and refer to it",
			"%d large requests of %s are being decoded or wait", calls, c.Principal).With("retry_seconds", 1)
	}
	return nil
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
	return &Work{most: most, turns: map[lane]*turn{}, share: newShare(most), spaces: newShare(most)}
}

// Enter waits for the caller's turn to read, until ctx ends. leave ends it. It refuses (overloaded) a caller of whom enough reads wait.
func (w *Work) Enter(ctx context.Context, c caller.Caller) (leave func(), err error) {
	return w.enter(ctx, c, read)
}

// EnterChange waits for the caller's turn to change something, until ctx ends. leave ends it. However many wait, none is refused:
// the work that a change finishes is done. Enter before the decision, so that its time is that after the wait.
func (w *Work) EnterChange(ctx context.Context, c caller.Caller) (leave func(), err error) {
	return w.enter(ctx, c, change)
}

// EnterBody waits for the caller's turn to have a large request decoded, until ctx ends. leave ends it: call it when the request is decoded,
// before its call. It refuses (overloaded) a caller of whom enough large requests wait.
func (w *Work) EnterBody(ctx context.Context, c caller.Caller) (leave func(), err error) {
	return w.enter(ctx, c, body)
}

// EnterPage waits for the caller's turn to have a page made, until ctx ends. leave ends it. The calls that the page is made of have turns of
// their own. It refuses (overloaded) a caller of whom enough pages wait.
func (w *Work) EnterPage(ctx context.Context, c caller.Caller) (leave func(), err error) {
	return w.enter(ctx, c, page)
}

// EnterCatchUp waits for the turn of the caller's streams of events that are behind the record to read a batch, until ctx ends. leave ends it.
// However many wait, none is refused: there are only so many streams.
func (w *Work) EnterCatchUp(ctx context.Context, c caller.Caller) (leave func(), err error) {
	return w.enter(ctx, c, catchUp)
}

func (w *Work) enter(ctx context.Context, c caller.Caller, k work) (leave func(), err error) {
	if w == nil || c.IsSystem() {
		return func() {}, nil
	}
	key := lane{c.Workspace, c.String(), k}
	w.mu.Lock()
	t := w.turns[key]
	if t == nil {
		t = &turn{slots: make(chan struct{}, w.most)}
		w.turns[key] = t
	}
	if err := k.full(c, t.calls, w.most); err != nil {
		w.mu.Unlock()
		return nil, err
	}
	t.calls++
	w.mu.Unlock()
	resume := ledger.Pause(ctx)
	select {
	case t.slots <- struct{}{}:
		resume()
		start := time.Now()
		return func() { w.rest(key, t, time.Since(start)) }, nil
	case <-ctx.Done():
		w.left(key, t)
		return nil, stream.Unavailable(ctx.Err())
	}
}

// rest ends a turn. If other calls of the lane wait, the next begins after as long as this one took: so calls one after the
// other take all of a processor, and many at once leave half of it.
func (w *Work) rest(key lane, t *turn, took time.Duration) {
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

func (w *Work) left(key lane, t *turn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.calls--; t.calls == 0 {
		delete(w.turns, key)
	}
}
