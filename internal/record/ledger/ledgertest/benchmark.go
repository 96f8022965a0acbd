package ledgertest

import (
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// RawSync returns the median time of appending size bytes to a file in dir and syncing it: the least time of any durable
// commit there, and the baseline of all measurements.
func RawSync(dir string, size, n int) (_ time.Duration, err error) {
	f, err := os.CreateTemp(dir, "raw-sync-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	took := make([]time.Duration, n)
	data := make([]byte, size)
	for i := range took {
		start := time.Now()
		if _, err := f.Write(data); err != nil {
			return 0, err
		}
		if err := syncData(f); err != nil {
			return 0, err
		}
		took[i] = time.Since(start)
	}
	return Percentile(took, 50), nil
}

// Percentile sorts the durations and returns the p-th, from 0 to 100.
func Percentile(took []time.Duration, p int) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[min(len(took)-1, len(took)*p/100)]
}

// Load runs op b.N times from a number of concurrent clients, each with one call at a time, and reports the metrics unit
// (such as "entries/s"), p50-µs and p99-µs. op receives the number of its client and the number of the call by that client,
// both from 0. Load returns the median.
func Load(b *testing.B, clients int, unit string, op func(client, call int) error) time.Duration {
	b.Helper()
	var next atomic.Int64
	took := make([]time.Duration, b.N)
	var wg sync.WaitGroup
	b.ResetTimer()
	start := time.Now()
	for c := range clients {
		wg.Go(func() {
			for call := 0; ; call++ {
				i := next.Add(1) - 1
				if i >= int64(b.N) || b.Failed() {
					return
				}
				begin := time.Now()
				if err := op(c, call); err != nil {
					b.Error(err)
					return
				}
				took[i] = time.Since(begin)
			}
		})
	}
	wg.Wait()
	total := time.Since(start)
	b.StopTimer()
	p50 := Percentile(took, 50)
	b.ReportMetric(float64(b.N)/total.Seconds(), unit)
	b.ReportMetric(float64(p50.Nanoseconds())/1000, "p50-µs")
	b.ReportMetric(float64(Percentile(took, 99).Nanoseconds())/1000, "p99-µs")
	b.ReportMetric(0, "ns/op") // misleading with concurrent clients
	return p50
}

// ReportSync measures the disk of dir and reports p50 of one durable commit as a multiple of it: x-fsync. Call it right
// after Load, so that both are measured in the same run.
func ReportSync(b *testing.B, dir string, p50 time.Duration) {
	b.Helper()
	raw, err := RawSync(dir, 1024, 500)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(p50)/float64(raw), "x-fsync")
	b.ReportMetric(float64(raw.Nanoseconds())/1000, "raw-fsync-µs")
}
