package garbage

import (
	"context"
	"math"
	"os"
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
	// spare is the part of what is in use, in percent, that may be in use besides before garbage is collected more often than by default in Go and free memory is given
	// back. With much less the collector would take as much processor time as the calls.
	spare = 40
	// limitStep is the part of the limit below which a change of it is left out, in percent.
	limitStep = 3
)

// Tune sets the garbage collector of the process for a server: nearly all memory of a call is garbage after its answer, and the
// rest is small, so that collecting half as often costs some tens of megabytes.
func Tune() { debug.SetGCPercent(mostGarbage) }

// Keep keeps the process near a number of bytes, by collecting garbage more often the more memory is in use, and gives memory back
// when the server is idle. So many bytes are also the limit of the runtime for the heap and the stacks, near which it collects garbage more often than by default and
// gives free memory back. It is no hard limit: it is moved above what is in use, since a heap that is near it is collected all the time, at the
// expense of every call. One in the environment (GOMEMLIMIT) has precedence over all of this.
func Keep(ctx context.Context, bytes int64) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	defer func() {
		Tune()
		debug.SetMemoryLimit(math.MaxInt64)
	}()
	heap := newHeap()
	tick := time.NewTicker(memoryEvery)
	defer tick.Stop()
	now, most := mostGarbage, int64(0)
	for quiet := 0; ; {
		live, stacks, allocated := heap.read()
		if next := limit(bytes, heap.inUse()); max(next-most, most-next) > most*limitStep/100 {
			most = next
			debug.SetMemoryLimit(most)
		}
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

// limit returns the limit of the runtime for a process that is to stay near a number of bytes, of which so many are in use.
func limit(bytes, inUse int64) int64 {
	return max(bytes, inUse+inUse*spare/100)
}

// heap reads the figures of the garbage collector.
type heap struct {
	samples []metrics.Sample
	before  uint64
}

func newHeap() *heap {
	return &heap{samples: []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/memory/classes/os-stacks:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}}
}

// read returns the bytes of the heap in use after the last collection, those of stacks, and those allocated since the last call.
func (h *heap) read() (live, stacks, allocated int64) {
	metrics.Read(h.samples)
	now := h.samples[1].Value.Uint64()
	allocated, h.before = int64(now-h.before), now //nolint:gosec // as above
	return h.figure(0), h.figure(2) + h.figure(3), allocated
}

// inUse returns the bytes in use at the last call of read, without garbage: the heap after the last collection, and all that is neither of its objects nor free.
func (h *heap) inUse() int64 {
	return h.figure(0) + h.figure(4) - h.figure(5) - h.figure(6) - h.figure(7)
}

func (h *heap) figure(n int) int64 { return int64(h.samples[n].Value.Uint64()) } //nolint:gosec // bytes of this process
