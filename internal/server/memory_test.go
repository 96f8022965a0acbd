package server

import "testing"

func TestTheMemoryLimitLeavesRoomForWhatIsInUse(t *testing.T) {
	for _, c := range []struct{ bytes, live, want int64 }{
		{DefaultMemory, 40 << 20, 160 << 20},
		{DefaultMemory, 0, 160 << 20},
		{DefaultMemory, 500 << 20, 1024 << 20},
		{1, 10 << 20, 44 << 20},
	} {
		if got := memoryLimit(c.bytes, c.live); got != c.want {
			t.Errorf("%d bytes, of which %d are in use: limit %d, want %d", c.bytes, c.live, got, c.want)
		}
	}
}

func TestTheHeapsFiguresAreThere(t *testing.T) {
	h := newHeap()
	h.read()
	kept := make([]byte, 1<<20)
	if live, allocated := h.read(); live < 0 || allocated < 1<<20 {
		t.Errorf("live %d, allocated %d after %d more", live, allocated, len(kept))
	}
}
