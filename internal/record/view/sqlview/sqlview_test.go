package sqlview

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/viewtest"
)

func embedded(t testing.TB, path string) (*sqlitelog.Log, *Views) {
	t.Helper()
	log, v, err := OpenEmbedded(t.Context(), path, sqlitelog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, v, log) })
	return log, v
}

func follow(t testing.TB, l ledger.Ledger, path string) *Views {
	t.Helper()
	v, err := Follow(t.Context(), l, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, v) })
	return v
}

func closeAll(t testing.TB, all ...interface{ Close() error }) {
	t.Helper()
	for _, c := range all {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func store(v *Views) viewtest.Store { return viewtest.Store{Store: v.Store(), Rebuilder: v} }

func TestEmbeddedViewsPassTheSuite(t *testing.T) {
	t.Parallel() // it waits for the disk
	viewtest.Run(t, func(t *testing.T) (ledger.Ledger, viewtest.Store) {
		log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
		return log, store(v)
	})
}

// What a call keeps while it waits for the views, others wait for.
func TestACallThatWaitsForTheViewsGivesUpItsTurn(t *testing.T) {
	v := follow(t, ledgertest.NewDouble(ledgertest.Faults{}), "")
	of := &ledgertest.Turn{Held: true}
	gone, leave := context.WithCancel(ledger.WithTurn(t.Context(), of))
	if err := v.Wait(gone, 0); err != nil || of.Resumed != 0 {
		t.Errorf("what is there is waited for: %v", err)
	}
	leave()
	if err := v.Wait(gone, 1); err == nil || of.Resumed != 1 || !of.Held {
		t.Errorf("%v, and it waited for another turn %d times", err, of.Resumed)
	}
}
