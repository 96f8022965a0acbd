package sqlitelog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// indexed is a closed log with three streams of five entries each.
func indexed(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "t.db")
	l := open(t, path, Options{})
	last := map[int]ledger.Position{}
	for n := range 15 {
		at, err := l.Append(t.Context(), ledgertest.NewEntry(ledger.Stream(fmt.Sprintf("default/task/t%d", n%3)), uint64(n/3+1), "text"), last[n%3]) //nolint:gosec // not negative
		if err != nil {
			t.Fatal(err)
		}
		last[n%3] = at
	}
	// A batch in which one append conflicts, and one that is rolled back, leave nothing behind.
	if _, err := l.Append(t.Context(), ledgertest.NewEntry("default/task/t0", 1, "text"), 0); !errors.Is(err, ledger.ErrConflict) {
		t.Fatal(err)
	}
	if err := l.Copy(t.Context(), []ledger.Entry{at(16, "default/task/new"), at(18, "default/task/newer")}); !errors.Is(err, ledger.ErrInvalid) {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func at(p ledger.Position, s ledger.Stream) ledger.Entry {
	e := ledgertest.NewEntry(s, 1, "text")
	e.Position = p
	return e
}

// TestARowOfTheIndexOfStreamsThatWasChangedIsNoticed changes the tables that say which entries a stream has, in ways that leave every entry as it is.
func TestARowOfTheIndexOfStreamsThatWasChangedIsNoticed(t *testing.T) {
	for _, c := range []struct {
		name, change string
		at           ledger.Position // that is named
	}{
		{"nothing", "SELECT 1", 0},
		{"the last entry of a stream is in another", "UPDATE entries SET stream = 2 WHERE position = 13", 13},
		{"the last entry of a stream is in one that does not exist", "UPDATE entries SET stream = 99 WHERE position = 15", 15},
		{"the name of a stream", "UPDATE streams SET name = 'default/task/u1' WHERE name = 'default/task/t1'", 2},
		{"the number of a stream", "UPDATE streams SET id = 7 WHERE name = 'default/task/t2'", 3},
		{"two streams are exchanged", "UPDATE streams SET id = 3 - id WHERE id < 3", 1},
		{"a stream is lost", "DELETE FROM streams WHERE id = 1", 1},
		{"a stream is added", "INSERT INTO streams VALUES('default/task/none', 2)", 0},
		{"a stream is added whose number is above all", "INSERT INTO streams VALUES('default/task/none', 99999)", 0},
		{"an entry is before all", "INSERT INTO entries SELECT -7, stream, bytes FROM entries WHERE position = 5", 0},
		{"an entry is at no position", "INSERT INTO entries SELECT 0, stream, bytes FROM entries WHERE position = 5", 0},
		{"the last entry is damaged too", "UPDATE entries SET stream = 2 WHERE position = 13; UPDATE entries SET bytes = substr(bytes, 1, 9) WHERE position = 15", 13},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := indexed(t)
			conn, err := sqlconn.Open(sqlconn.DSN(path, "rw"))
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(conn.Exec(c.change), conn.Close()); err != nil {
				t.Fatal(err)
			}
			want := c.name != "nothing"
			l, err := Open(path, Options{MinFree: -1})
			if err == nil {
				_ = l.Close()
			}
			var differs *IndexError
			if errors.As(err, &differs) != want || want && differs.At != c.at {
				t.Errorf("the log is opened with %v, want position %d", err, c.at)
			}
			r, err := OpenReader(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			found, err := r.CheckFile(context.Background())
			if len(found) > 0 || errors.As(err, &differs) != want || want && differs.At != c.at {
				t.Errorf("a check of the file finds %q, %v", found, err)
			}
			var damaged *ledger.Damaged
			if _, err := r.Read(t.Context(), 0, 100); want && c.at > 0 && (!errors.As(err, &damaged) || damaged.Position != c.at) {
				t.Errorf("a reader of the file reads it with %v", err)
			}
		})
	}
}

// TestTheSumInTheLastEntryIsNotTakenOnTrust has an index that was changed together with the sum.
func TestTheSumInTheLastEntryIsNotTakenOnTrust(t *testing.T) {
	path := indexed(t)
	conn, err := sqlconn.Open(sqlconn.DSN(path, "rw"))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec("UPDATE entries SET stream = 2 WHERE position = 13"); err != nil {
		t.Fatal(err)
	}
	_, sum, err := sumIndex(conn, 15)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := at(15, "default/task/t2").Encode()
	if err != nil {
		t.Fatal(err)
	}
	stored, check := frame.Append(nil, entry)
	if err := errors.Join(frame.Seal(stored, check, 15, 12, uint64(sum)), conn.Exec("UPDATE entries SET bytes = ? WHERE position = 15", stored), conn.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var damaged *ledger.Damaged
	if _, err := r.Read(t.Context(), 0, 100); !errors.As(err, &damaged) || damaged.Position != 13 {
		t.Errorf("a reader of the file reads it with %v", err)
	}
}
