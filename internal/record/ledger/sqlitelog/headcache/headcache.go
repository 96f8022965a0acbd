package headcache

import (
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Head is the head of a stream: its number in the table of streams and the position of its last entry.
type Head struct {
	ID       int64
	Position ledger.Position
	At       time.Time // of the last entry; zero if it is not known
}

// perGeneration bounds the cache: two generations of about 200 bytes per stream, some 1.5 MB.
const perGeneration = 1 << 12

// Cache caches the heads of recently used streams. When the young generation is full it replaces the old one: nearly
// as good as least-recently-used, without bookkeeping on a hit.
//
// The writer changes it before a commit, so a reader may see a head that is not yet committed, but never one older than
// the last committed entry.
type Cache struct {
	mu         sync.Mutex
	young, old map[ledger.Stream]Head
}

// New returns an empty cache.
func New() *Cache {
	return &Cache{young: map[ledger.Stream]Head{}, old: map[ledger.Stream]Head{}}
}

// Get returns the head of a stream, if it is there.
func (h *Cache) Get(s ledger.Stream) (Head, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v, ok := h.young[s]; ok {
		return v, true
	}
	v, ok := h.old[s]
	if ok {
		h.set(s, v)
	}
	return v, ok
}

// Put sets the head of a stream.
func (h *Cache) Put(s ledger.Stream, v Head) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.set(s, v)
}

func (h *Cache) set(s ledger.Stream, v Head) {
	if len(h.young) >= perGeneration {
		h.old, h.young = h.young, make(map[ledger.Stream]Head, perGeneration)
	}
	h.young[s] = v
}

// Forget empties the cache after a transaction that was rolled back.
func (h *Cache) Forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.young, h.old = map[ledger.Stream]Head{}, map[ledger.Stream]Head{}
}
