package sqlview_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/kept"
)

// open opens a database with the tables, of which each has three rows.
func open(t *testing.T) *sqlitelog.Database {
	t.Helper()
	db, err := sqlitelog.OpenDatabase(filepath.Join(t.TempDir(), "views.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	exec(t, db, kept.Schema,
		"CREATE TABLE view_cursor(name TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT",
		"CREATE TABLE view_memory_vector(n INTEGER PRIMARY KEY, id TEXT NOT NULL, written TEXT NOT NULL, space TEXT NOT NULL, value BLOB NOT NULL) STRICT")
	inTx(t, db, kept.Begin)
	for i := range 3 {
		change(t, db, kept.Cursors, fmt.Sprint("follower", i), fmt.Sprintf("INSERT INTO view_cursor VALUES('follower%d', %d)", i, i))
		change(t, db, kept.Vectors, i, fmt.Sprintf("INSERT INTO view_memory_vector VALUES(%d, 'mem_%d', 'now', 'space', x'0%d')", i, i, i))
	}
	return db
}

func inTx(t *testing.T, db *sqlitelog.Database, fn func(*sqlconn.Tx) error) {
	t.Helper()
	if err := db.Write(fn); err != nil {
		t.Fatal(err)
	}
}

// exec changes the database without a word to the sums.
func exec(t *testing.T, db *sqlitelog.Database, statements ...string) {
	t.Helper()
	for _, one := range statements {
		inTx(t, db, func(tx *sqlconn.Tx) error { return tx.Exec(one) })
	}
}

// change changes the rows with a key as their writer does.
func change(t *testing.T, db *sqlitelog.Database, table kept.Table, key any, statement string) {
	t.Helper()
	inTx(t, db, func(tx *sqlconn.Tx) error {
		return table.Change(tx, key, func() error { return tx.Exec(statement) })
	})
}

// differ are the tables that are not as they were written.
func differ(t *testing.T, db *sqlitelog.Database) (list []string) {
	t.Helper()
	found, err := kept.Differ(t.Context(), db.Readers(), nil)
	if err != nil {
		t.Fatal(err)
	}
	inTx(t, db, func(tx *sqlconn.Tx) error {
		for _, table := range kept.Tables {
			whole, err := table.IsWhole(tx)
			if err != nil {
				return err
			}
			named := slices.ContainsFunc(found, func(name string) bool { return strings.HasPrefix(name, table.Name+",") })
			if named == whole {
				return fmt.Errorf("%s is whole: %v, and found: %v", table.Name, whole, found)
			}
			if !whole {
				list = append(list, table.Name)
			}
		}
		return nil
	})
	return list
}

func TestARowThatItsWriterChangesIsAsWritten(t *testing.T) {
	db := open(t)
	change(t, db, kept.Cursors, "follower1", "UPDATE view_cursor SET position = 9 WHERE name = 'follower1'")
	change(t, db, kept.Cursors, "follower2", "DELETE FROM view_cursor WHERE name = 'follower2'")
	change(t, db, kept.Vectors, 1, "UPDATE view_memory_vector SET value = x'ff' WHERE n = 1")
	change(t, db, kept.Vectors, 7, "DELETE FROM view_memory_vector WHERE n = 7") // there is none
	if list := differ(t, db); len(list) > 0 {
		t.Errorf("%v differ", list)
	}
}

func TestAChangeThatFailsChangesNoSum(t *testing.T) {
	db := open(t)
	failed := errors.New("failed")
	err := db.Write(func(tx *sqlconn.Tx) error {
		return kept.Cursors.Change(tx, "follower1", func() error {
			return errors.Join(tx.Exec("UPDATE view_cursor SET position = 9"), failed)
		})
	})
	if list := differ(t, db); !errors.Is(err, failed) || len(list) > 0 {
		t.Errorf("%v differ after %v", list, err)
	}
}

func TestEveryRowThatItsWriterDidNotChangeIsNoticed(t *testing.T) {
	for statement, want := range map[string]kept.Table{
		"UPDATE view_cursor SET position = position + 1 WHERE name = 'follower1'":  kept.Cursors,
		"UPDATE view_cursor SET name = 'another' WHERE name = 'follower1'":         kept.Cursors,
		"DELETE FROM view_cursor WHERE name = 'follower2'":                         kept.Cursors,
		"DELETE FROM view_cursor":                                                  kept.Cursors,
		"INSERT INTO view_cursor VALUES('another', 1)":                             kept.Cursors,
		"UPDATE view_kept SET sum = sum + 1 WHERE name = 'view_cursor'":            kept.Cursors,
		"DELETE FROM view_kept WHERE name = 'view_cursor'":                         kept.Cursors,
		"UPDATE view_memory_vector SET n = 9 WHERE n = 1":                          kept.Vectors,
		"UPDATE view_memory_vector SET id = 'mem_9' WHERE n = 1":                   kept.Vectors,
		"UPDATE view_memory_vector SET written = 'then' WHERE n = 1":               kept.Vectors,
		"UPDATE view_memory_vector SET space = 'another' WHERE n = 1":              kept.Vectors,
		"UPDATE view_memory_vector SET value = x'0102' WHERE n = 1":                kept.Vectors,
		"DELETE FROM view_memory_vector WHERE n = 1":                               kept.Vectors,
		"INSERT INTO view_memory_vector VALUES(9, 'mem_9', 'now', 'space', x'09')": kept.Vectors,
		"UPDATE view_kept SET sum = sum - 1 WHERE name = 'view_memory_vector'":     kept.Vectors,
		"DELETE FROM view_kept WHERE name = 'view_memory_vector'":                  kept.Vectors,
	} {
		t.Run(statement, func(t *testing.T) {
			db := open(t)
			exec(t, db, statement)
			if list := differ(t, db); !slices.Equal(list, []string{want.Name}) {
				t.Errorf("%v differ, want %s", list, want.Name)
			}
			inTx(t, db, kept.Empty)
			if list := differ(t, db); len(list) > 0 {
				t.Errorf("after it was emptied, %v differ", list)
			}
			if n := count(t, db, want); n != 0 {
				t.Errorf("%d rows are left of the table that was changed", n)
			}
			if want != kept.Cursors && count(t, db, kept.Cursors) != 3 || want != kept.Vectors && count(t, db, kept.Vectors) != 3 {
				t.Error("the table that was not changed is emptied")
			}
		})
	}
}

func TestBeginTakesTheRowsOfAnEarlierVersionAsTheyAre(t *testing.T) {
	db := open(t)
	exec(t, db, "DELETE FROM view_kept", "UPDATE view_cursor SET position = 5")
	inTx(t, db, kept.Begin)
	if list := differ(t, db); len(list) > 0 {
		t.Errorf("%v differ", list)
	}
}

func TestWhatAQueryCountsIsNamed(t *testing.T) {
	db := open(t)
	list, err := kept.Differ(context.Background(), db.Readers(), map[string]string{
		"view_word": "SELECT count(*) FROM view_cursor", "view_page": "SELECT count(*) FROM view_cursor WHERE position > 100",
	})
	if err != nil || !slices.Equal(list, []string{"view_word"}) {
		t.Errorf("%v differ, %v", list, err)
	}
}

func count(t *testing.T, db *sqlitelog.Database, table kept.Table) (n int) {
	t.Helper()
	if err := db.Readers().QueryRowContext(t.Context(), "SELECT count(*) FROM "+table.Name).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
