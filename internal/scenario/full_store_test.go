package scenario

import (
	"cmp"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	stored    = flag.Int("stored", 0, "compare a store with this many finished handoffs with an empty one")
	storedDir = flag.String("stored-dir", "", "keep and reuse the full store in this directory")
)

// TestAFullStoreIsAsFastAsAnEmptyOne compares, in medians of five runs, and says how long a full store takes to open and
// what memory it needs. It judges nothing: docs/performance.md quotes it. The store is filled through the use cases.
func TestAFullStoreIsAsFastAsAnEmptyOne(t *testing.T) {
	embedded(t)
	if *stored == 0 {
		t.Skip("takes minutes; run with -stored 1000000 -timeout 1h")
	}
	dir := cmp.Or(*storedDir, t.TempDir())
	h, stop := reopen(t, dir)
	for i := range benchAgents {
		h.join(agentName(i))
	}
	last, err := h.app.Positions.Last(ctx(t))
	if err != nil {
		t.Fatal(err)
	}
	if have := int(last) / 3; have < *stored {
		began := time.Now()
		drive(t, 1000, *stored-have, func(n int, took func(time.Duration)) error { return lifecycle(h.app, h, n, took) })
		t.Logf("filled with %d handoffs in %s", *stored-have, time.Since(began).Round(time.Second))
	}
	stop()
	began := time.Now()
	h, stop = reopen(t, dir)
	t.Logf("opened in %s, resident %s", time.Since(began).Round(time.Millisecond), resident(t))
	defer stop()
	for _, load := range []struct{ clients, n int }{{1, 2000}, {100, 20_000}, {1000, 20_000}} {
		var empty, full []figures
		for range 5 {
			e, stop := reopen(t, t.TempDir())
			for i := range benchAgents {
				e.join(agentName(i))
			}
			empty = append(empty, drive(t, load.clients, load.n, func(n int, took func(time.Duration)) error { return lifecycle(e.app, e, n, took) }))
			stop()
			full = append(full, drive(t, load.clients, load.n, func(n int, took func(time.Duration)) error { return lifecycle(h.app, h, n, took) }))
		}
		p50 := func(f figures) time.Duration { return f.p50 }
		p99 := func(f figures) time.Duration { return f.p99 }
		t.Logf("%4d clients: p50 %s empty, %s full, ×%.2f; p99 %s empty, %s full, ×%.2f; resident %s", load.clients,
			median(empty, p50), median(full, p50), float64(median(full, p50))/float64(median(empty, p50)),
			median(empty, p99), median(full, p99), float64(median(full, p99))/float64(median(empty, p99)), resident(t))
	}
}

func median(all []figures, of func(figures) time.Duration) time.Duration {
	slices.SortFunc(all, func(a, b figures) int { return cmp.Compare(of(a), of(b)) })
	return of(all[len(all)/2])
}

// resident is the memory that this process has, load generator included.
func resident(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(b)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(kb)
		}
	}
	return "unknown"
}
