package sqlitelog

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
)

// BenchmarkLedgerAppend appends entries of 1 KiB, three to a stream as a simple handoff does, with a view row in
// the same transaction. Every answer waits for its fsync.
func BenchmarkLedgerAppend(b *testing.B) {
	for _, clients := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			dir := b.TempDir()
			l := open(b, filepath.Join(dir, "trapeze.db"), Options{Projector: &counter{}})
			expect := make([]ledger.Position, clients)
			p50 := ledgertest.Load(b, clients, "entries/s", func(client, call int) error {
				version := uint64(call%3 + 1) //nolint:gosec // small
				if version == 1 {
					expect[client] = 0
				}
				s := ledger.StreamOf("default", "task", fmt.Sprintf("task_%08d_%d", call/3, client))
				p, err := l.Append(b.Context(), ledgertest.KiB(s, version), expect[client])
				expect[client] = p
				return err
			})
			if clients == 1 {
				ledgertest.ReportSync(b, dir, p50)
			}
			if last, err := l.Last(b.Context()); err != nil || last != ledger.Position(b.N) { //nolint:gosec // positive
				b.Errorf("%d entries are there, %v; want %d", last, err, b.N)
			}
			if err := l.Stale(); err != nil {
				b.Error(err)
			}
		})
	}
}
