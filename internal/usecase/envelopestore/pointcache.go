package envelopestore

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// The most that is remembered: of so many tasks, and so many facts and decisions of all of them together.
const (
	pointSets = 1024
	maxPoints = 1 << 20
)

// pointsOf is a task and the digest of its newest envelope: the first envelope of a child names one of its parent, whose points are not the child's.
type pointsOf struct{ workspace, task, digest string }

// pointCache remembers the points of tasks, least recently used first out, up to a total number. It is safe for concurrent use; callers must not change the sets.
type pointCache struct {
	mu   sync.Mutex
	lru  simplelru.LRUCache[pointsOf, Points]
	held int
	most int
}

func newPointCache(sets, most int) *pointCache {
	c := &pointCache{most: most}
	lru, err := simplelru.NewLRU(sets, func(_ pointsOf, p Points) { c.held -= len(p) })
	if err != nil {
		panic(err) // only a size of zero is an error
	}
	c.lru = lru
	return c
}

func (c *pointCache) get(of pointsOf) (Points, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Get(of)
}

// put remembers a set in place of that of the envelope before. One that alone is more than all may be is not remembered.
func (c *pointCache) put(of, before pointsOf, p Points) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Remove(before)
	if c.lru.Contains(of) || len(p) > c.most {
		return
	}
	c.held += len(p)
	c.lru.Add(of, p)
	for c.held > c.most {
		c.lru.RemoveOldest()
	}
}

func (c *pointCache) purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Purge()
}
