package server

import (
	"context"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// DefaultMemory is the default of [Config.Memory]: 256 MiB.
	DefaultMemory = 256 << 20
	// outsideHeap is the memory that the garbage collector does not count: the program and the page caches of SQLite.
	outsideHeap = 96 << 20
	// memoryEvery is the interval at which the limit is adapted; idleRounds is the number of intervals without work after
	// which free memory is given back to the system, and idleBytes is what background work allocates in one.
	memoryEvery = 10 * time.Second
	idleRounds  = 3
	idleBytes   = 2 << 20
	// limitStep is the change below which the limit stays: each change stops the program for a moment.
	limitStep = 4 << 20
)

// Tune sets the garbage collector of the process for a server: nearly all memory of a call is garbage after its answer, and the
// rest is small, so that collecting half as often costs some tens of megabytes.
func Tune() { debug.SetGCPercent(200) }

// keepMemory keeps the process near a number of bytes, and gives memory back when the server is idle. The limit is soft: a heap of
// which more than that is in use, as with thousands of sessions, is collected no more often than by default in Go. A limit in the environment
// (GOMEMLIMIT) has precedence.
func keepMemory(ctx context.Context, bytes int64) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	defer debug.SetMemoryLimit(math.MaxInt64)
	heap := newHeap()
	tick := time.NewTicker(memoryEvery)
	defer tick.Stop()
	limit := int64(0)
	for quiet := 0; ; {
		live, stacks, allocated := heap.read()
		if next := memoryLimit(bytes, live, stacks); next < limit-limitStep || next > limit+limitStep {
			limit = next
			debug.SetMemoryLimit(limit)
		}
		if quiet++; allocated > idleBytes {
			quiet = 0
		}
		if quiet == idleRounds {
			debug.FreeOSMemory()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// memoryLimit returns the limit for the memory of the Go runtime, of which so many bytes of the heap and of the stacks of goroutines
// are in use: at least the stacks, which no collection gives back, and twice the heap, since the collector would otherwise run all the
// time.
func memoryLimit(bytes, live, stacks int64) int64 {
	return max(bytes-outsideHeap, 2*live+stacks+outsideHeap/4)
}

// heap reads the figures of the garbage collector.
type heap struct {
	samples []metrics.Sample
	before  uint64
}

func newHeap() *heap {
	return &heap{samples: []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/memory/classes/os-stacks:bytes"},
	}}
}

// read returns the bytes of the heap in use after the last collection, those of stacks, and those allocated since the last call.
func (h *heap) read() (live, stacks, allocated int64) {
	metrics.Read(h.samples)
	figure := func(n int) int64 { return int64(h.samples[n].Value.Uint64()) } //nolint:gosec // bytes of this process
	now := h.samples[1].Value.Uint64()
	allocated, h.before = int64(now-h.before), now //nolint:gosec // as above
	return figure(0), figure(2) + figure(3), allocated
}
