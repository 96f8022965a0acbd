package expect

import (
	"crypto/sha256"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

type digest [sha256.Size]byte

// cache keeps compiled schemas by the digest of their source, up to a number of schemas and of bytes of source.
type cache struct {
	mu    sync.Mutex
	lru   simplelru.LRUCache[digest, *schema]
	bytes int
	most  int
}

func newCache(schemas, bytes int) *cache {
	c := &cache{most: bytes}
	lru, err := simplelru.NewLRU(schemas, func(_ digest, s *schema) { c.bytes -= s.bytes })
	if err != nil {
		panic(err) // only a size of zero is an error
	}
	c.lru = lru
	return c
}

func (c *cache) get(raw []byte) (digest, *schema) {
	key := digest(sha256.Sum256(raw))
	c.mu.Lock()
	defer c.mu.Unlock()
	s, _ := c.lru.Get(key)
	return key, s
}

func (c *cache) put(key digest, s *schema) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lru.Contains(key) || s.bytes > c.most {
		return
	}
	c.bytes += s.bytes
	c.lru.Add(key, s)
	for c.bytes > c.most {
		c.lru.RemoveOldest()
	}
}
