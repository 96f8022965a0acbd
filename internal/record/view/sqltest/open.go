package sqltest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
)

// Open returns an empty ledger and its views. They are closed after every later cleanup of the test; a failure to open or
// close them fails the test. Free disk space is not checked.
func Open(t testing.TB) (*sqlitelog.Log, *sqlview.Views) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trapeze.db")
	file, err := empty()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	log, views, err := open(path)
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

// empty returns the file of an empty ledger with its views: to make their tables takes most of the time that Open takes.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "sqltest")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary directory
	path := filepath.Join(dir, "trapeze.db")
	log, views, err := open(path)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(views.Close(), log.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func open(path string) (*sqlitelog.Log, *sqlview.Views, error) {
	return sqlview.OpenEmbedded(context.Background(), path, sqlitelog.Options{MinFree: -1})
}
