//go:build outside

package pglog

import (
	"fmt"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
)

// BenchmarkLedgerAppend appends entries of 1 KiB, three to a stream as a simple handoff does, as that of the embedded ledger, from clients that are
// spread over one or two front ends. Server and front ends share the machine.
func BenchmarkLedgerAppend(b *testing.B) {
	s := pgtest.Start(b)
	for _, frontEnds := range []int{1, 2} {
		for _, clients := range []int{1, 100, 1000} {
			b.Run(fmt.Sprintf("frontends=%d/clients=%d", frontEnds, clients), func(b *testing.B) {
				o := Options{Schema: newSchema()}
				logs := make([]*Log, frontEnds)
				for i := range logs {
					logs[i] = open(b, s.URL(), o)
				}
				expect := make([]ledger.Position, clients)
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
				if clients == 1 {
					ledgertest.ReportSync(b, b.TempDir(), p50)
				}
			})
		}
	}
}
