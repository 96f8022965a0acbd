package query

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
)

// opened is a DB on a pool of so many connections to an empty database.
func opened(t *testing.T, readers int) *DB {
	t.Helper()
	file, err := sqlitelog.OpenDatabase(filepath.Join(t.TempDir(), "views.db"), readers)
	if err != nil {
		t.Fatal(err)
	}
	db := New(file.Readers())
	t.Cleanup(func() {
		if err := errors.Join(db.Close(), file.Close()); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestManyShapesOfQueriesRunAtOnceWithABoundedNumberOfStatements(t *testing.T) {
	db := opened(t, 4)
	const shapes = 2 * maxStatements
	var running sync.WaitGroup
	for g := range 4 {
		running.Go(func() {
			for i := range shapes {
				n := (i*7 + g*shapes/4) % shapes
				if got, err := Int(t.Context(), db, fmt.Sprintf("SELECT %d + ?", n), 1); err != nil || got != n+1 {
					t.Errorf("query %d: %d, %v", n, got, err)
				}
			}
		})
	}
	running.Wait()
	if n := len(db.stmts); n != maxStatements {
		t.Errorf("%d statements are prepared", n)
	}
}

func TestNoRowIsReadAfterTheOneThatIsEnough(t *testing.T) {
	db := opened(t, 1)
	read := 0
	for range 2 { // the connection can be used again
		err := db.Each(t.Context(), func(*sql.Rows) error {
			if read++; read%3 == 0 {
				return ErrEnough
			}
			return nil
		}, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n") // without an end
		if err != nil {
			t.Fatal(err)
		}
	}
	if read != 6 {
		t.Errorf("%d rows were read", read)
	}
}
