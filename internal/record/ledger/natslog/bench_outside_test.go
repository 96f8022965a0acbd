//go:build outside && unix

package natslog_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
)

// BenchmarkLedgerAppend appends entries of 1 KiB, three to a stream as a simple handoff does, from clients that are spread over three nodes in one process, each of
// which follows the record, and looks at its end as often as a server with many calls.
func BenchmarkLedgerAppend(b *testing.B) {
	c := natstest.Start(b, 3)
	for _, clients := range []int{1, 100} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			ctx, stop := context.WithCancel(b.Context())
			var running sync.WaitGroup
			o, logs := natslog.Options{Name: newName()}, make([]*natslog.Log, 3)
			for i := range logs {
				logs[i] = open(b, c, i, o)
				running.Go(func() {
					if err := logs[i].Follow(ctx, 0, func([]ledger.Entry) error { return nil }); !errors.Is(err, context.Canceled) {
						b.Error(err)
					}
				})
				running.Go(func() {
					for clients > 1 && ctx.Err() == nil {
						if _, err := logs[i].Last(ctx); err != nil && ctx.Err() == nil {
							b.Error(err)
						}
						<-time.After(16 * time.Millisecond)
					}
				})
			}
			expect, spent := make([]ledger.Position, clients), processor()
			ledgertest.Load(b, clients, "entries/s", func(client, call int) error {
				version := uint64(call%3 + 1) //nolint:gosec // small
				if version == 1 {
					expect[client] = 0
				}
				stream := ledger.StreamOf("default", "task", fmt.Sprintf("task_%08d_%d", call/3, client))
				p, err := logs[client%len(logs)].Append(b.Context(), ledgertest.KiB(stream, version), expect[client])
				expect[client] = p
				return err
			})
			b.ReportMetric(float64((processor()-spent).Nanoseconds())/1e3/float64(b.N), "cpu-µs/entry")
			stop()
			running.Wait()
		})
	}
}

// processor is the processor time of this process.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
