//go:build slow && !race

package scenario

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// The test of the test: each of these bugs must make a history that no order explains. They are planted around the
// server, never in it.

// blind appends at the end of the stream, whatever the writer expects: no compare-and-set.
type blind struct{ ledger.Ledger }

func (b blind) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	if expect == ledger.Any || expect == 0 {
		return b.Ledger.Append(ctx, e, expect)
	}
	for {
		end, err := b.end(ctx, e.Stream, expect)
		if err != nil {
			return 0, err
		}
		at, err := b.Ledger.Append(ctx, e, end)
		if !errors.Is(err, ledger.ErrConflict) {
			return at, err
		}
	}
}

func (b blind) end(ctx context.Context, s ledger.Stream, after ledger.Position) (ledger.Position, error) {
	entries, err := b.Stream(ctx, s, after, 1000)
	if err != nil || len(entries) == 0 {
		return after, err
	}
	return entries[len(entries)-1].Position, nil
}

// forgetful sometimes acknowledges an entry that it does not write.
type forgetful struct {
	ledger.Ledger
	mu sync.Mutex
	n  int
}

func (f *forgetful) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	if tr, _ := ctx.Value(traceKey{}).(*trace); tr != nil && expect != ledger.Any && expect != 0 && f.loses() {
		tr.wrote = true
		return expect + 1, nil
	}
	return f.Ledger.Append(ctx, e, expect)
}

func (f *forgetful) loses() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	return f.n%50 == 0
}

// outdated sometimes reads a stream without its newest entry: a follower that answers for the leader.
type outdated struct {
	ledger.Ledger
	mu sync.Mutex
	n  int
}

func (o *outdated) Stream(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	entries, err := o.Ledger.Stream(ctx, s, after, limit)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n++; o.n%10 == 0 && after > 0 && len(entries) > 0 {
		entries = entries[:len(entries)-1]
	}
	return entries, err
}

// current is what a server makes of a call that does not look at the epoch that comes with it.
func current(ctx context.Context, node *usecase.UseCases, h *harness, task string, w wish) wish {
	switch w.verb {
	case vSend, vWithdraw, vConfirm, vProgress, vHeartbeat, vComplete:
	default:
		return w
	}
	for {
		t, err := node.Tasks.Show(ctx, h.operator(), task)
		if err == nil {
			w.epoch = t.Epoch
		}
		if refusal.CodeOf(err) != refusal.Unknown {
			return w
		}
	}
}

// impostor is what a server makes of a call that does not look at who makes it.
func impostor(ctx context.Context, node *usecase.UseCases, h *harness, task string, w wish) wish {
	if w.verb != vComplete && w.verb != vProgress {
		return w
	}
	if t, err := node.Tasks.Show(ctx, h.operator(), task); err == nil {
		w.agent = t.Owner
	}
	return w
}

func TestPlantedBugsAreCaught(t *testing.T) {
	const seeds = 20
	for _, p := range []struct {
		name string
		bug  bug
		on   []string
	}{
		{"no compare-and-set", bug{ledger: func(l ledger.Ledger) ledger.Ledger { return blind{l} }}, ledgers},
		{"no check of the epoch", bug{rewrite: current}, ledgers},
		{"no check of the owner", bug{rewrite: impostor}, ledgers},
		{"no idempotency keys", bug{keyless: true}, ledgers},
		{"acknowledged and not written", bug{ledger: func(l ledger.Ledger) ledger.Ledger { return &forgetful{Ledger: l} }}, ledgers},
		// One node alone knows the newest entry without reading it.
		{"reads that lag", bug{ledger: func(l ledger.Ledger) ledger.Ledger { return &outdated{Ledger: l} }}, []string{"distributed"}},
	} {
		for _, kind := range p.on {
			t.Run(p.name+"/"+kind, func(t *testing.T) {
				for seed := range uint64(seeds) {
					c := enter(t, kind, seed, p.bug)
					c.fight(seed, 4000)
					task, _, _ := c.verdict(10 * time.Second) // what is not decided is not caught: on to the next seed
					c.harness.stop()
					if task != "" {
						t.Logf("caught with seed %d", seed)
						return
					}
				}
				t.Errorf("not caught with %d seeds", seeds)
			})
		}
	}
}
