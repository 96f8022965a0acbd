package sqlview

// cache caches recently used values in two generations; the old one is dropped when the young one is full. It drops values
// only in makeRoom, so that the changes of a batch stay cached until they are written.
type cache[K comparable, V any] struct {
	size       int // of one generation
	young, old map[K]V
}

func newCache[K comparable, V any](size int) cache[K, V] {
	return cache[K, V]{size: size, young: map[K]V{}, old: map[K]V{}}
}

func (c *cache[K, V]) get(k K) (v V, ok bool) {
	if v, ok = c.young[k]; ok {
		return v, true
	}
	if v, ok = c.old[k]; ok {
		delete(c.old, k)
		c.young[k] = v
	}
	return v, ok
}

func (c *cache[K, V]) put(k K, v V) { c.young[k] = v }

func (c *cache[K, V]) drop(k K) {
	delete(c.young, k)
	delete(c.old, k)
}

func (c *cache[K, V]) makeRoom() {
	if len(c.young) >= c.size {
		c.old, c.young = c.young, make(map[K]V, c.size)
	}
}
