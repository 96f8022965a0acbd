package sqlitelog

import (
	"path/filepath"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
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
