package sqlitelog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/filelock"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

func TestSecondOpenIsRefusedWithTheHoldersProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	synctest.Test(t, func(t *testing.T) {
		l := open(t, path, Options{})
		_, err := Open(path, Options{})
		if !errors.Is(err, ErrInUse) || runtime.GOOS == "linux" && !strings.Contains(err.Error(), fmt.Sprintf("process %d:", os.Getpid())) {
			t.Errorf("got %v", err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		open(t, path, Options{})
	})
}

// The lock does not depend on the name of a file that somebody can remove by hand.
func TestSecondOpenIsRefusedThoughTheLockFileIsGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the file of a lock cannot be removed there")
	}
	path := filepath.Join(t.TempDir(), "t.db")
	synctest.Test(t, func(t *testing.T) {
		l := open(t, path, Options{})
		write(t, l, "x", 1)
		if err := os.Remove(path + ".lock"); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the first makes the file again
			if other, err := Open(path, Options{}); !errors.Is(err, ErrInUse) {
				t.Errorf("got %v, %v", other, err)
			}
		}
		if !filelock.IsLocked(path + ".lock") {
			t.Error("who only reads takes the database for one that no server writes")
		}
		write(t, l, "y", 1)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		open(t, path, Options{})
	})
}

func TestAHolderThatIsOnItsWayOutIsWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	synctest.Test(t, func(t *testing.T) {
		l := open(t, path, Options{})
		gone := make(chan error, 1)
		time.AfterFunc(filelock.Timeout-time.Second, func() { gone <- l.Close() })
		write(t, open(t, path, Options{}), "x", 1)
		if err := <-gone; err != nil {
			t.Fatal(err)
		}
	})
}

func TestFilesBelongToTheOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	l := open(t, filepath.Join(dir, "odd name?#%.db"), Options{})
	write(t, l, "x", 1)
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 4 {
		t.Fatalf("%v, %v; want the database, its log and index, and the lock", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v", info.Mode(), err)
	}
}

func TestFilesThatAreNotOursAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, want string
		prepare    func(t *testing.T, path string)
	}{
		{"text", "damaged or not a database", func(t *testing.T, path string) {
			overwrite(t, path, 0, bytes.Repeat([]byte("not a database. "), 1000))
		}},
		{"another program's database", "of another program", func(t *testing.T, path string) {
			c, err := sqlconn.Open(sqlconn.DSN(path, "rwc"))
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(c.Exec("CREATE TABLE recipes(name)"), c.Close()); err != nil {
				t.Fatal(err)
			}
		}},
		{"newer schema", "has format 99, written by a newer version of Trapeze, and this version reads formats up to 6", func(t *testing.T, path string) {
			l := open(t, path, Options{})
			if err := errors.Join(l.Write(t.Context(), func(tx *sqlconn.Tx) error { return tx.Exec("PRAGMA user_version=99") }), l.Close()); err != nil {
				t.Fatal(err)
			}
		}},
		{"damaged first page", "damaged or not a database", func(t *testing.T, path string) {
			l := open(t, path, Options{})
			write(t, l, "x", 10)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			overwrite(t, path, 100, bytes.Repeat([]byte{0xff}, 3000))
		}},
		{"path below a file", "not a directory", func(t *testing.T, path string) {
			overwrite(t, filepath.Dir(path), 0, []byte("a file"))
		}},
		{"directory in its place", "is a directory", func(t *testing.T, path string) {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "d", "t.db")
			if c.name != "path below a file" {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			c.prepare(t, path)
			l, err := Open(path, Options{})
			if err == nil {
				_ = l.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want something about %q and the path", err, c.want)
			}
		})
	}
}

func overwrite(t *testing.T, path string, at int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // a test's file
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedEntryIsReportedAndOthersStayReadable(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "t.db"), Options{})
	write(t, l, "x", 3)
	err := l.Write(t.Context(), func(tx *sqlconn.Tx) error {
		return tx.Exec("UPDATE entries SET bytes = CAST(substr(bytes, 1, 9) || x'ff' || substr(bytes, 11) AS BLOB) WHERE position = 2")
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Stream(t.Context(), "w/task/x1", 0, 9); err == nil || !strings.Contains(err.Error(), "entry 2 is damaged") {
		t.Errorf("got %v", err)
	}
	if got, err := l.Stream(t.Context(), "w/task/x2", 0, 9); err != nil || len(got) != 1 {
		t.Errorf("got %d entries, %v", len(got), err)
	}
}

// TestAnEntryInAnotherPlaceIsAsDamagedAsAChangedOne changes where entries of two streams are, and reads both streams and all entries.
func TestAnEntryInAnotherPlaceIsAsDamagedAsAChangedOne(t *testing.T) {
	const swap = "UPDATE entries SET bytes = (SELECT bytes FROM entries AS o WHERE o.position = %d) WHERE position = %d"
	for name, c := range map[string]struct {
		damage []string
		stream ledger.Position // that a read of stream a names; 0: none
		all    ledger.Position // that a read of all entries names; 0: none
	}{
		"one is copied over another": {[]string{fmt.Sprintf(swap, 1, 3)}, 3, 3},
		"one is deleted":             {[]string{"DELETE FROM entries WHERE position = 3"}, 3, 3},
		"one is moved to the end":    {[]string{"UPDATE entries SET position = 9 WHERE position = 3"}, 3, 3},
		"one is in another stream":   {[]string{"UPDATE entries SET stream = (SELECT stream FROM entries WHERE position = 2) WHERE position = 3"}, 3, 0},
		"one of another stream":      {[]string{"UPDATE entries SET stream = (SELECT stream FROM entries WHERE position = 1) WHERE position = 2"}, 2, 0},
		"the streams are swapped":    {[]string{"UPDATE streams SET id = 3 - id"}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, filepath.Join(t.TempDir(), "t.db"), Options{})
			for i, s := range []string{"a", "b", "a", "b", "a"} { // each entry is two after the one before it in its stream
				e := ledgertest.NewEntry(ledger.StreamOf("w", "task", s), uint64(i/2+1), "x")
				if _, err := l.Append(t.Context(), e, ledger.Position(max(0, i-1))); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := l.Stream(t.Context(), "w/task/a", 0, 9); err != nil || len(got) != 3 {
				t.Fatalf("%v, %v", got, err)
			}
			err := l.Write(t.Context(), func(tx *sqlconn.Tx) error {
				for _, sql := range c.damage {
					if err := tx.Exec(sql); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = l.Stream(t.Context(), "w/task/a", 0, 9)
			names(t, "a read of the stream", err, c.stream)
			_, err = l.Read(t.Context(), 0, 9)
			names(t, "a read of all entries", err, c.all)
		})
	}
}

// names checks that a read names a damaged entry, or none.
func names(t *testing.T, what string, err error, at ledger.Position) {
	t.Helper()
	damaged, is := errors.AsType[*ledger.Damaged](err)
	switch {
	case at == 0 && err != nil:
		t.Errorf("%s: %v", what, err)
	case at > 0 && (!is || damaged.Position != at):
		t.Errorf("%s: %v, want entry %d to be named", what, err, at)
	}
}
