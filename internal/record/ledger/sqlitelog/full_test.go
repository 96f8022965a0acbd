package sqlitelog

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
)

var fill = flag.Int("fill", 30_000, "entries in the store of BenchmarkFullStore; 3,000,000 is a million simple handoffs")

// BenchmarkFullStore measures opening, appending and loading a stream when much has been stored already.
func BenchmarkFullStore(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "trapeze.db")
	l, err := Open(path, Options{Projector: &counter{}})
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	fillStore(b, l)
	b.Logf("filled with %d entries at %.0f/s", *fill, float64(*fill)/time.Since(start).Seconds())
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	start = time.Now()
	l = open(b, path, Options{Projector: &counter{}})
	opened := time.Since(start)
	round := 0
	for _, clients := range []int{1, 1000} {
		b.Run(fmt.Sprintf("append/clients=%d", clients), func(b *testing.B) {
			round++ // the function runs several times: new streams each time
			expect := make([]ledger.Position, clients)
			ledgertest.Load(b, clients, "entries/s", func(client, call int) error {
				if call%3 == 0 {
					expect[client] = 0
				}
				e := ledgertest.KiB(taskOf(call/3, fmt.Sprint(client, "-", round)), uint64(call%3+1)) //nolint:gosec // small
				p, err := l.Append(b.Context(), e, expect[client])
				expect[client] = p
				return err
			})
			b.ReportMetric(float64(opened.Milliseconds()), "open-ms")
			b.ReportMetric(residentMiB(), "resident-MiB")
		})
	}
	b.Run("stream", func(b *testing.B) {
		ledgertest.Load(b, 1, "streams/s", func(_, call int) error {
			got, err := l.Stream(b.Context(), taskOf(call*7919%(*fill/3), "0"), 0, 100)
			if err == nil && len(got) != 3 {
				err = fmt.Errorf("%d entries", len(got))
			}
			return err
		})
	})
}

// taskOf names streams in an order that jumps about, as ids derived from digests do.
func taskOf(n int, suffix string) ledger.Stream {
	return ledger.StreamOf("default", "task", fmt.Sprintf("task_%016x_%s", uint64(n+1)*0x9e3779b97f4a7c15, suffix)) //nolint:gosec // a hash
}

func fillStore(b *testing.B, l *Log) {
	b.Helper()
	const clients = 1000
	errs := make(chan error, clients)
	for c := range clients {
		go func() {
			for n := c; n < *fill/3; n += clients {
				var expect ledger.Position
				for v := range 3 {
					var err error
					if expect, err = l.Append(b.Context(), ledgertest.KiB(taskOf(n, "0"), uint64(v+1)), expect); err != nil { //nolint:gosec // small
						errs <- err
						return
					}
				}
			}
			errs <- nil
		}()
	}
	for range clients {
		if err := <-errs; err != nil {
			b.Fatal(err)
		}
	}
}

// residentMiB is the memory of this process, 0 where it is not known.
func residentMiB() float64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseFloat(strings.Fields(string(b))[1], 64)
	return pages * float64(os.Getpagesize()) / (1 << 20)
}
