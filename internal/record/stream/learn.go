package stream

import (
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// maxNews is of how many streams it is known exactly what was learned of them last, in each of two generations.
const maxNews = 4096

// news is what was learned of streams.
type news struct {
	mu           sync.Mutex
	newer, older map[ledger.Stream]ledger.Position // the newest entry of each
	last         ledger.Position                   // that was learned of
	began        ledger.Position                   // last, when newer was empty
	forgotten    ledger.Position                   // all later entries that were learned of are in the maps
}

// until returns the newest entry that was learned of.
func (n *news) until() ledger.Position {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last
}

func (n *news) add(s ledger.Stream, at ledger.Position) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.newer == nil || len(n.newer) >= maxNews {
		n.newer, n.older = make(map[ledger.Stream]ledger.Position), n.newer
		n.began, n.forgotten = n.last, n.began
	}
	n.newer[s] = max(n.newer[s], at)
	n.last = max(n.last, at)
}

// lacks reports whether a fold up to an entry, read when it was known of the entries until before, may lack an entry that was learned of.
func (n *news) lacks(s ledger.Stream, head, before ledger.Position) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.newer[s] > head || n.older[s] > head || n.forgotten > max(head, before)
}

// keepSince caches f, unless it may lack what was learned of its stream since it was known of the entries until before.
func (k *kind[S, E]) keepSince(before ledger.Position, s ledger.Stream, f *Folded[S]) {
	if k.news.lacks(s, f.Head, before) {
		return
	}
	k.keep(s, f)
	if k.news.lacks(s, f.Head, before) { // meanwhile
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
	k.news.add(e.Stream, e.Position)
	f, cached := k.get(e.Stream)
	if !cached && e.Version == 1 && !k.news.lacks(e.Stream, e.Position, e.Position) { // others may go on with it here; a rebuild of the views tells of it again
		f, cached = k.none, true
	}
	if !cached || f.Head >= e.Position {
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
