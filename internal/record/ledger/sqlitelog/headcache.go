package sqlitelog

import (
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// head is the head of a stream: its number in the streams table and the position of its last entry.
type head struct {
	id       int64
	position ledger.Position
	at       time.Time // of the last entry; zero if it is not known
}

// headsPerGeneration bounds the cache: two generations of about 200 bytes per stream, some 6 MB.
const headsPerGeneration = 1 << 14

// headCache caches the heads of recently used streams. When the young generation is full it replaces the old one: nearly
// as good as least-recently-used, without bookkeeping on a hit.
//
// The writer changes it before a commit, so a reader may see a head that is not yet committed, but never one older than
// the last committed entry.
type headCache struct {
	mu         sync.Mutex
	young, old map[ledger.Stream]head
}

func newHeadCache() *headCache {
	return &headCache{young: map[ledger.Stream]head{}, old: map[ledger.Stream]head{}}
}

func (h *headCache) get(s ledger.Stream) (head, bool) {
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

func (h *headCache) put(s ledger.Stream, v head) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.set(s, v)
}

func (h *headCache) set(s ledger.Stream, v head) {
	if len(h.young) >= headsPerGeneration {
		h.old, h.young = h.young, make(map[ledger.Stream]head, headsPerGeneration)
	}
	h.young[s] = v
}

// forget empties the cache after a transaction that was rolled back.
func (h *headCache) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.young, h.old = map[ledger.Stream]head{}, map[ledger.Stream]head{}
}
