//go:build slow || outside

package scenario

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// history has the calls of all clients, with the times between which each must have been applied.
type callHistory struct {
	start time.Time
	mu    sync.Mutex
	ops   map[string][]porcupine.Operation // by task
	tally tally
}

// tally shows how hard a run was.
type tally struct {
	reads, commands, ticks int
	lost                   int // commands that were in order when they were given, and for which somebody else was first
	stale                  int // commands that were out of order on purpose
	open                   int // operations that nobody knows the outcome of
	expired                int // ticks that changed something
	moved, completed       int
	unavailable            int
}

func newHistory() *callHistory {
	return &callHistory{start: time.Now(), ops: map[string][]porcupine.Operation{}}
}

func (h *callHistory) now() int64 { return int64(time.Since(h.start)) }

func (h *callHistory) add(client int, task string, w wish, called int64, a answer) {
	returned := h.now()
	open := a.code == refusal.Unknown || a.maybe
	if open {
		returned = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops[task] = append(h.ops[task], porcupine.Operation{ClientId: client, Input: w, Call: called, Output: a, Return: returned})
	if open {
		h.tally.open++
	}
}

func (h *callHistory) count(add func(*tally)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	add(&h.tally)
}

// trace is what the ledger did for one call, as the test sees it from outside.
type trace struct {
	wrote, unknown bool
	beaten         int // appends that lost their place to somebody else's entry
}

type traceKey struct{}

func traced(ctx context.Context) (context.Context, *trace) {
	t := &trace{}
	return context.WithValue(ctx, traceKey{}, t), t
}

// post is a ledger with slow messages: sometimes it reports an unknown outcome and writes afterwards, if
// the place in the stream is still free. It also notes in the call's trace what happened.
type post struct {
	ledger.Ledger
	late float64 // how often
	mu   sync.Mutex
	rng  *rand.Rand
	on   sync.WaitGroup
}

func (p *post) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	tr, _ := ctx.Value(traceKey{}).(*trace) // absent outside of the contest
	if tr == nil || expect == ledger.Any {
		return p.Ledger.Append(ctx, e, expect)
	}
	if wait := p.delay(); wait > 0 {
		tr.unknown = true
		p.on.Go(func() {
			<-time.After(wait)
			_, _ = p.Ledger.Append(context.Background(), e, expect) // nobody waits for it
		})
		return 0, ledger.ErrUnknown
	}
	at, err := p.Ledger.Append(ctx, e, expect)
	switch {
	case err == nil:
		tr.wrote = true
	case errors.Is(err, ledger.ErrUnknown):
		tr.unknown = true
	case errors.Is(err, ledger.ErrConflict):
		// A spurious conflict is nobody's doing and does not count.
		if others, err := p.Stream(ctx, e.Stream, expect, 1); err == nil && len(others) > 0 {
			tr.beaten++
		}
	}
	return at, err
}

// lateness is the most that an entry comes late.
const lateness = 4 * time.Millisecond

func (p *post) delay() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rng.Float64() >= p.late {
		return 0
	}
	return 1 + time.Duration(p.rng.Int64N(int64(lateness)))
}
