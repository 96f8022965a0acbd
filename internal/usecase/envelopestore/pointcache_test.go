package envelopestore

import (
	"fmt"
	"sync"
	"testing"
)

// However large the sets of tasks are, so many points are held at most; those that were used last are.
func TestPointsAreHeldUpToATotal(t *testing.T) {
	set := func(n int) Points {
		p := Points{}
		for i := range n {
			p[fmt.Sprint(i)] = point{}
		}
		return p
	}
	of := func(task, digest string) pointsOf { return pointsOf{"w", task, digest} }
	c := newPointCache(3, 10)
	holds := func(held int, want ...pointsOf) {
		t.Helper()
		for _, k := range want {
			if !c.lru.Contains(k) {
				t.Errorf("%v is not held", k)
			}
		}
		if c.held != held || c.lru.Len() != len(want) {
			t.Errorf("%d points of %v, want %d of %v", c.held, c.lru.Keys(), held, want)
		}
	}
	for _, task := range []string{"a", "b", "b"} {
		c.put(of(task, "1"), of(task, ""), set(4))
	}
	holds(8, of("a", "1"), of("b", "1"))
	c.get(of("a", "1"))
	c.put(of("c", "1"), of("c", ""), set(6))
	holds(10, of("a", "1"), of("c", "1"))
	c.put(of("a", "2"), of("a", "1"), set(3))
	holds(9, of("a", "2"), of("c", "1"))
	c.put(of("d", "1"), of("d", ""), set(11)) // too large for all
	holds(9, of("a", "2"), of("c", "1"))
	for _, task := range []string{"e", "f"} {
		c.put(of(task, "1"), of(task, ""), set(0))
	}
	holds(3, of("a", "2"), of("e", "1"), of("f", "1"))
	c.purge()
	holds(0)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			c.put(of(fmt.Sprint(i%4), fmt.Sprint(i)), of(fmt.Sprint(i%4), fmt.Sprint(i-4)), set(i))
			c.get(of("0", "0"))
		})
	}
	wg.Wait()
	if c.held > c.most || c.lru.Len() > 3 {
		t.Errorf("%d points of %d sets", c.held, c.lru.Len())
	}
}
