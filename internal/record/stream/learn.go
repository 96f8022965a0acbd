package stream

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// news counts what was learned of streams, some of which share a counter.
type news [64]atomic.Uint64

var seed = maphash.MakeSeed()

func (n *news) counter(s ledger.Stream) *atomic.Uint64 {
	return &n[maphash.String(seed, string(s))%uint64(len(n))]
}

func (n *news) of(s ledger.Stream) uint64 { return n.counter(s).Load() }

// keepSince caches f, unless something was learned of its stream since before: what was read then may lack that.
func (k *kind[S, E]) keepSince(before uint64, s ledger.Stream, f *Folded[S]) {
	if k.news.of(s) != before {
		return
	}
	k.keep(s, f)
	if k.news.of(s) != before { // meanwhile
		k.drop(s)
	}
}

// drop removes the fold of a stream from the cache.
func (k *kind[S, E]) drop(s ledger.Stream) {
	for _, c := range k.caches {
		c.Remove(s)
	}
}

func (k *kind[S, E]) Learn(e ledger.Entry) {
	f, cached := k.get(e.Stream)
	if cached && f.Head >= e.Position {
		return
	}
	k.news.counter(e.Stream).Add(1)
	if f, cached = k.get(e.Stream); !cached || f.Head >= e.Position {
		return
	}
	if f.version+1 == e.Version {
		next := f.copy()
		if k.apply(next, e) == nil {
			k.keep(e.Stream, next)
			return
		}
	}
	k.drop(e.Stream)
}
