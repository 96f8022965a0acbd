//go:build outside

package pglog

import (
	"fmt"
	"os"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
)

// BenchmarkLedgerAppend appends entries of 1 KiB, three to a stream as a simple handoff does, as that of the embedded ledger, from clients that are
// spread over one or three front ends. Server and front ends share the machine.
func BenchmarkLedgerAppend(b *testing.B) {
	s := pgtest.Start(b)
	for _, frontEnds := range []int{1, 3} {
		for _, clients := range []int{1, 100, 1000} {
			b.Run(fmt.Sprintf("frontends=%d/clients=%d", frontEnds, clients), func(b *testing.B) {
				o := Options{Schema: newSchema()}
				logs := make([]*Log, frontEnds)
				for i := range logs {
					logs[i] = open(b, s.URL(), o)
				}
				expect := make([]ledger.Position, clients)
				engine, own := s.Processors(), pgtest.Processor(os.Getpid())
				p50 := ledgertest.Load(b, clients, "entries/s", func(client, call int) error {
					version := uint64(call%3 + 1) //nolint:gosec // small
					if version == 1 {
						expect[client] = 0
					}
					stream := ledger.StreamOf("default", "task", fmt.Sprintf("task_%08d_%d", call/3, client))
					p, err := logs[client%frontEnds].Append(b.Context(), ledgertest.KiB(stream, version), expect[client])
					expect[client] = p
					return err
				})
				b.ReportMetric(float64((s.Processors()-engine).Microseconds())/float64(b.N), "engine-cpu-µs/entry")
				b.ReportMetric(float64((pgtest.Processor(os.Getpid())-own).Microseconds())/float64(b.N), "cpu-µs/entry")
				if clients == 1 {
					ledgertest.ReportSync(b, b.TempDir(), p50)
				}
			})
		}
	}
}
