package sqlitelog

import (
	"path/filepath"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

func open(t testing.TB, path string, opts Options) *Log {
	t.Helper()
	l, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestLogPassesTheSuite(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) ledger.Ledger {
		return open(t, filepath.Join(t.TempDir(), "new", "trapeze.db"), Options{})
	})
}

func TestLogIsDurable(t *testing.T) {
	ledgertest.RunDurable(t, func(t *testing.T, place string) ledger.Ledger {
		return open(t, filepath.Join(place, "trapeze.db"), Options{Projector: &counter{}})
	})
}

// Package walbuffer keeps what a commit writes until SQLite syncs it, which it does with this setting alone.
func TestTheWriterSyncsEachCommit(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "t.db"), Options{})
	err := l.Write(t.Context(), func(tx *sqlconn.Tx) error {
		return tx.Query(func(r sqlconn.Row) error {
			if r.Int64(0) != 2 {
				t.Errorf("synchronous is %d, want 2 (FULL)", r.Int64(0))
			}
			return nil
		}, "PRAGMA synchronous")
	})
	if err != nil {
		t.Error(err)
	}
}
