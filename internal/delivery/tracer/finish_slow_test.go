//go:build slow

package tracer

import (
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
)

// TestATracerThatStopsWaitsForEntriesThatAReadDoesNotReturnYet: they are none at the end of the record alone.
func TestATracerThatStopsWaitsForEntriesThatAReadDoesNotReturnYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := ledgertest.NewDouble(ledgertest.Faults{Lag: time.Second})
		tr, err := Open(t.Context(), d, &downSink{}, Options{Path: filepath.Join(t.TempDir(), "traced"), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		at := ledger.Position(0)
		for n := range uint64(3) {
			if at, err = d.Append(t.Context(), ledgertest.NewEntry(ledger.StreamOf("default", "task", "task_1"), n+1, "x"), at); err != nil {
				t.Fatal(err)
			}
		}
		if err := tr.finish(t.Context()); err != nil || tr.position() != at {
			t.Errorf("the spans end at %d, and the record at %d: %v", tr.position(), at, err)
		}
	})
}
