package garbage

import "testing"

func TestGarbageIsCollectedMoreOftenTheMoreMemoryIsInUse(t *testing.T) {
	for _, c := range []struct {
		bytes, live, stacks int64
		want                int
	}{
		{DefaultMemory, 0, 0, 200},
		{DefaultMemory, 25 << 20, 1 << 20, 200}, // 100 clients
		{DefaultMemory, 30 << 20, 5 << 20, 150},
		{DefaultMemory, 60 << 20, 10 << 20, 100},  // 1,000 clients
		{DefaultMemory, 60 << 20, 200 << 20, 100}, // thousands of calls that wait
		{DefaultMemory, 500 << 20, 0, 100},
		{1, 10 << 20, 0, 100},
		{SharedMemory, 66 << 20, 13 << 20, 243}, // a node of three, with 1,000 clients
		{SharedMemory, 30 << 20, 5 << 20, 400},
	} {
		if got := share(c.bytes, c.live, c.stacks); got != c.want {
			t.Errorf("%d bytes, of which %d and %d of stacks are in use: %d %%, want %d", c.bytes, c.live, c.stacks, got, c.want)
		}
	}
}

func TestTheHeapsFiguresAreThere(t *testing.T) {
	h := newHeap()
	h.read()
	kept := make([]byte, 1<<20)
	if live, stacks, allocated := h.read(); live < 0 || stacks <= 0 || allocated < 1<<20 {
		t.Errorf("live %d, stacks %d, allocated %d after %d more", live, stacks, allocated, len(kept))
	}
}
