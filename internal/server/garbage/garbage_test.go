package garbage

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
)

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

func TestTheLimitIsAboveWhatIsInUse(t *testing.T) {
	for _, c := range []struct{ bytes, inUse, want int64 }{
		{DefaultMemory, 70 << 20, DefaultMemory}, // 100 clients
		{DefaultMemory, 130 << 20, 182 << 20},    // 1,000 clients
		{DefaultMemory, 2000 << 20, 2800 << 20},  // thousands of calls that wait
		{1, 100 << 20, 140 << 20},
	} {
		if got := limit(c.bytes, c.inUse); got != c.want {
			t.Errorf("%d bytes, and %d in use: a limit of %d, want %d", c.bytes, c.inUse, got, c.want)
		}
	}
}

// TestGarbageIsNotInUse fills the heap and empties it.
func TestGarbageIsNotInUse(t *testing.T) {
	h, large := newHeap(), make([]byte, 256<<20)
	runtime.GC()
	h.read()
	full := h.inUse()
	runtime.KeepAlive(large)
	runtime.GC()
	h.read()
	if size := int64(len(large)); full < size || h.inUse() > size/2 {
		t.Errorf("%d bytes in use, and %d after %d were free", full, h.inUse(), size)
	}
}

// TestTheLimitOfTheRuntimeIsSet keeps a process near fewer bytes than it has.
func TestTheLimitOfTheRuntimeIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		var keeps sync.WaitGroup
		keeps.Go(func() { Keep(ctx, 1) })
		synctest.Wait()
		if got := debug.SetMemoryLimit(-1); got == math.MaxInt64 {
			t.Error("no limit")
		}
		end()
		keeps.Wait()
		if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
			t.Errorf("a limit of %d after the end", got)
		}
	})
}

func TestTheHeapsFiguresAreThere(t *testing.T) {
	h := newHeap()
	h.read()
	kept := make([]byte, 1<<20)
	if live, stacks, allocated := h.read(); live < 0 || stacks <= 0 || allocated < 1<<20 {
		t.Errorf("live %d, stacks %d, allocated %d after %d more", live, stacks, allocated, len(kept))
	}
}
