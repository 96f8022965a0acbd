//go:build slow && !race

package scenario

import (
	"flag"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/server/garbage"
)

const (
	soakSteps = 30    // measurements, of which the first third fills the caches
	soakStep  = 2_000 // handoffs between two of them
	// soakSlope is the greatest growth, in bytes in use for each handoff. A thing that is kept for every task costs some hundreds.
	soakSlope = 100
)

var soak = flag.Duration("soak", 0, "how long TestMemoryInUseDoesNotGrowWithTheWorkDone goes on at least; it also needs -timeout")

// TestMemoryInUseDoesNotGrowWithTheWorkDone measures what is in use after a collection, not what the process has from the system, so
// that no other program has a part in it.
func TestMemoryInUseDoesNotGrowWithTheWorkDone(t *testing.T) {
	garbage.Tune()
	h := open(t, sound())
	defer h.stop()
	for i := range benchAgents {
		h.join(agentName(i))
	}
	var inUse []float64
	for step, end := 0, time.Now().Add(*soak); step < soakSteps || time.Now().Before(end); step++ {
		handOff(t, h, step*soakStep, soakStep)
		inUse = append(inUse, liveBytes())
		t.Logf("after %d handoffs: %.1f MB in use", (step+1)*soakStep, inUse[step]/1e6)
	}
	if s := slope(inUse[len(inUse)/3:]) / soakStep; s > soakSlope {
		t.Errorf("every handoff leaves %.0f bytes in use, at most %d are allowed", s, soakSlope)
	} else {
		t.Logf("slope: %.0f bytes a handoff", s)
	}
}

// handOff runs n handoffs, numbered from first, by 64 clients.
func handOff(t *testing.T, h *harness, first, n int) {
	t.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				if err := lifecycle(h.app, h, first+i, func(time.Duration) {}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// liveBytes is the heap in use. Pools lose what they hold at the second collection.
func liveBytes() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// slope is the growth from one value to the next, by least squares.
func slope(values []float64) float64 {
	n := float64(len(values))
	var x, y, xx, xy float64
	for i, v := range values {
		at := float64(i)
		x, y, xx, xy = x+at, y+v, xx+at*at, xy+at*v
	}
	return (n*xy - x*y) / (n*xx - x*x)
}
