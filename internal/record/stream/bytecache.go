package stream

import (
	"bytes"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// slotBytes is what an entry of the cache costs besides its name and its bytes: the element of a list, and its place in a map.
const slotBytes = 160

// ByteCache caches byte slices by name, least recently used first out, up to a total size, names and slots included. It is safe for
// concurrent use; callers must not change the slices.
type ByteCache struct {
	mu    sync.Mutex
	lru   simplelru.LRUCache[string, []byte]
	bytes int
	most  int
}

// NewByteCache returns an empty cache of at most that many bytes.
func NewByteCache(most int) *ByteCache {
	c := &ByteCache{most: most}
	lru, err := simplelru.NewLRU(1<<20, func(name string, b []byte) { c.bytes -= cost(name, b) })
	if err != nil {
		panic(err) // only a size of zero is an error
	}
	c.lru = lru
	return c
}

// Put caches b, unless it is larger than a quarter of the cache.
func (c *ByteCache) Put(name string, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lru.Contains(name) || len(b) > c.most/4 {
		return
	}
	if cap(b) > 2*len(b) { // a buffer that grew would keep up to twice its bytes
		b = bytes.Clone(b)
	}
	c.bytes += cost(name, b)
	c.lru.Add(name, b)
	for c.bytes > c.most {
		c.lru.RemoveOldest()
	}
}

func cost(name string, b []byte) int { return slotBytes + len(name) + cap(b) }

// Get returns the slice that is cached under a name.
func (c *ByteCache) Get(name string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Get(name)
}

// Purge empties the cache.
func (c *ByteCache) Purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Purge()
}
