package garbage

import (
	"context"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// DefaultMemory is the memory that a server stays near by default: 160 MiB.
	DefaultMemory = 160 << 20
	// SharedMemory is that of a server that shares its record: it keeps in memory what the others make, too, and the engine, if that is inside.
	SharedMemory = 320 << 20
	// outsideHeap is the memory that the garbage collector does not count: the program and the page caches of SQLite.
	outsideHeap = 80 << 20
	// memoryEvery is the interval at which the garbage collector is adapted; idleRounds is the number of intervals without work after
	// which free memory is given back to the system, and idleBytes is what background work allocates in one.
	memoryEvery = 2 * time.Second
	idleRounds  = 15
	idleBytes   = 512 << 10
	// Bounds of the share of the heap in use, in percent, that may be allocated before it is collected again, and the change below which
	// it stays: each change stops the program for a moment. At the least share the collector runs as often as by default in Go.
	// Where there is much memory to stay near, most of it is free until there are many clients.
	leastGarbage = 100
	mostGarbage  = 200
	mostShared   = 400 // of [SharedMemory] and more
	garbageStep  = 10
)

// Tune sets the garbage collector of the process for a server: nearly all memory of a call is garbage after its answer, and the
// rest is small, so that collecting half as often costs some tens of megabytes.
func Tune() { debug.SetGCPercent(mostGarbage) }

// Keep keeps the process near a number of bytes, by collecting garbage more often the more memory is in use, and gives memory back
// when the server is idle. It is no hard limit: with more in use, as with thousands of sessions, garbage is collected as often as by
// default in Go, and no more often. A limit of the runtime (SetMemoryLimit) is hard, and so are its costs: a heap that is near it is collected
// all the time, at the expense of every call. One in the environment (GOMEMLIMIT) has precedence.
func Keep(ctx context.Context, bytes int64) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	defer Tune()
	heap := newHeap()
	tick := time.NewTicker(memoryEvery)
	defer tick.Stop()
	now := mostGarbage
	for quiet := 0; ; {
		live, stacks, allocated := heap.read()
		if next := share(bytes, live, stacks); next <= now-garbageStep || next >= now+garbageStep {
			now = next
			debug.SetGCPercent(now)
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

// share returns the share of the heap in use, in percent, that may be allocated before it is collected again, so that a process stays near a
// number of bytes, of which so many of the heap and of the stacks of goroutines are in use.
func share(bytes, live, stacks int64) int {
	free, most := bytes-outsideHeap-stacks-live, int64(mostGarbage)
	if bytes >= SharedMemory {
		most = mostShared
	}
	return int(min(max(100*free/max(live, 1), leastGarbage), most))
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
