package stream

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Bytes keeps byte strings by name, the recently used ones, up to a number of bytes in all. It is safe for many goroutines,
// which must not change what they get.
type Bytes struct {
	mu    sync.Mutex
	lru   simplelru.LRUCache[string, []byte]
	bytes int
	most  int
}

// NewBytes returns an empty cache for so many bytes.
func NewBytes(most int) *Bytes {
	c := &Bytes{most: most}
	lru, err := simplelru.NewLRU(1<<20, func(_ string, b []byte) { c.bytes -= len(b) })
	if err != nil {
		panic(err) // only a size of zero is an error
	}
	c.lru = lru
	return c
}

// Put keeps b, unless it would take more than a quarter of the room.
func (c *Bytes) Put(name string, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lru.Contains(name) || len(b) > c.most/4 {
		return
	}
	c.bytes += len(b)
	c.lru.Add(name, b)
	for c.bytes > c.most {
		c.lru.RemoveOldest()
	}
}

// Get finds what is kept under a name.
func (c *Bytes) Get(name string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Get(name)
}
