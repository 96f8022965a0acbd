package server

import "testing"

func TestTheMemoryLimitLeavesRoomForWhatIsInUse(t *testing.T) {
	for _, c := range []struct{ bytes, live, stacks, want int64 }{
		{DefaultMemory, 40 << 20, 1 << 20, 160 << 20},
		{DefaultMemory, 0, 0, 160 << 20},
		{DefaultMemory, 500 << 20, 0, 1024 << 20},
		{DefaultMemory, 40 << 20, 200 << 20, 304 << 20}, // thousands of calls that wait
		{1, 10 << 20, 0, 44 << 20},
	} {
		if got := memoryLimit(c.bytes, c.live, c.stacks); got != c.want {
			t.Errorf("%d bytes, of which %d are in use: limit %d, want %d", c.bytes, c.live, got, c.want)
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
