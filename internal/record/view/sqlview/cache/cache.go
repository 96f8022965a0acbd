package cache

// Cache caches recently used values in two generations; the old one is dropped when the young one is full. It drops values
// only in MakeRoom, so that the changes of a batch stay cached until they are written.
type Cache[K comparable, V any] struct {
	size       int // of one generation
	young, old map[K]V
}

// New returns an empty cache. size is the number of values of one generation.
func New[K comparable, V any](size int) Cache[K, V] {
	return Cache[K, V]{size: size, young: map[K]V{}, old: map[K]V{}}
}

// Get returns the value of a key.
func (c *Cache[K, V]) Get(k K) (v V, ok bool) {
	if v, ok = c.young[k]; ok {
		return v, true
	}
	if v, ok = c.old[k]; ok {
		delete(c.old, k)
		c.young[k] = v
	}
	return v, ok
}

// Put adds a value.
func (c *Cache[K, V]) Put(k K, v V) { c.young[k] = v }

// Drop drops the value of a key.
func (c *Cache[K, V]) Drop(k K) {
	delete(c.young, k)
	delete(c.old, k)
}

// MakeRoom drops the old generation when the young one is full.
func (c *Cache[K, V]) MakeRoom() {
	if len(c.young) >= c.size {
		c.old, c.young = c.young, make(map[K]V, c.size)
	}
}

// Len is the number of values, at most two generations after MakeRoom.
func (c *Cache[K, V]) Len() int { return len(c.young) + len(c.old) }
