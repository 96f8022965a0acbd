package stream

import (
	"fmt"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// The caches of a kind.
const (
	usual = iota
	large // folds of more than maxCachedFold
	ended // of streams of which little is asked any more
)

// maxCachedFold is the size, in bytes, above which a fold is large, and maxLargeFold the greatest size of a cached fold: see [Options.Weigh].
const (
	maxCachedFold = 32 << 10
	maxLargeFold  = 512 << 10
	largeFolds    = 16
	endedFolds    = 512
	farEnded      = 4096 // of streams that are read from other machines
)

// get is the fold of a stream that is cached.
func (k *kind[S, E]) get(s ledger.Stream) (f *Folded[S], cached bool) {
	for _, c := range k.caches {
		if f, cached = c.Get(s); cached {
			break
		}
	}
	return f, cached
}

// keep caches f, unless a newer fold is cached.
func (k *kind[S, E]) keep(s ledger.Stream, f *Folded[S]) {
	weight, to := 0, usual
	if k.weigh != nil {
		weight = k.weigh(&f.State)
	}
	switch {
	case weight > maxCachedFold:
		to = large
	case k.ended != nil && k.ended(&f.State):
		to = ended
	}
	for i, c := range k.caches {
		if old, ok := c.Peek(s); ok && old.Head >= f.Head {
			return
		} else if ok && i != to {
			c.Remove(s)
		}
	}
	if weight > maxLargeFold {
		k.caches[to].Remove(s)
		return
	}
	k.caches[to].Add(s, f)
}

// apply changes f, which is not shared.
func (k *kind[S, E]) apply(f *Folded[S], e ledger.Entry) error {
	events, err := k.codec.DecodeAll(e.Events)
	if err != nil {
		return fmt.Errorf("entry %d: %w", e.Position, err)
	}
	k.advance(f, &e, events)
	return nil
}

// advance changes f, which is not shared, by an entry with those events.
func (k *kind[S, E]) advance(f *Folded[S], e *ledger.Entry, events []E) {
	k.fold(&f.State, events...)
	f.Head, f.version, f.at = e.Position, e.Version, e.Time.UnixNano()
	if e.Key != "" {
		f.keys = f.keys.with(e.Key, e.Request, e.Position, k.most)
	}
}
