package sharedrecord

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// Learner is a ledger that tells the caches of entries before it tells its followers, the views: who sees an entry in these finds it in those.
type Learner struct {
	ledger.Ledger
	learn atomic.Pointer[func([]ledger.Entry)]
	told  func(ledger.Position)
}

// NewLearner returns a ledger whose caches are given by [Learner.Tell]. told is called with the position up to which they were told of entries: what
// they keep is read after the first call.
func NewLearner(l ledger.Ledger, told func(ledger.Position)) *Learner {
	return &Learner{Ledger: l, told: told}
}

// Tell says what tells the caches.
func (l *Learner) Tell(caches func([]ledger.Entry)) { l.learn.Store(&caches) }

// Follow implements [ledger.Ledger].
func (l *Learner) Follow(ctx context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	l.told(after)
	return l.Ledger.Follow(ctx, after, func(entries []ledger.Entry) error {
		if learn := l.learn.Load(); learn != nil {
			(*learn)(entries)
		}
		l.told(entries[len(entries)-1].Position)
		return fn(entries)
	})
}

// visibleWithin is how long the answer to a change waits for the views of its front end.
const visibleWithin = 2 * time.Second

// NewVisible returns a ledger whose appends return when the views have the entry, so that a caller who lists afterwards finds it. Views that are late
// hold up an answer for a moment only: the entry is in the record.
// last is its Last.
func NewVisible(l ledger.Ledger, v view.Freshness, last func(context.Context) (ledger.Position, error)) ledger.Ledger {
	return visible{l, v, last}
}

type visible struct {
	ledger.Ledger
	views view.Freshness
	last  func(context.Context) (ledger.Position, error)
}

// Last implements [ledger.Ledger].
func (v visible) Last(ctx context.Context) (ledger.Position, error) { return v.last(ctx) }

// Append implements [ledger.Ledger].
func (v visible) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	defer ledger.Pause(ctx)() // also while the views are waited for
	at, err := v.Ledger.Append(ctx, e, expect)
	if err != nil || expect == ledger.Any || ledger.IsForRead(ctx) {
		return at, err
	}
	wait, cancel := context.WithTimeout(ctx, visibleWithin)
	defer cancel()
	_ = v.views.Wait(wait, at) // see above
	return at, nil
}
