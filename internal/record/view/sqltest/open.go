package sqltest

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
)

// Open returns an empty ledger and its views. They are closed after every later cleanup of the test; a failure to open or
// close them fails the test. Free disk space is not checked.
func Open(t testing.TB) (*sqlitelog.Log, *sqlview.Views) {
	t.Helper()
	log, views, err := sqlview.OpenEmbedded(t.Context(), filepath.Join(t.TempDir(), "trapeze.db"), sqlitelog.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(views.Close(), log.Close()); err != nil {
			t.Error(err)
		}
	})
	return log, views
}
