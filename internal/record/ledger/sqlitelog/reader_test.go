package sqlitelog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// TestAFileIsReadWithoutChangingIt reads a log that is open, one that is closed, and a copy of one whose process was killed.
func TestAFileIsReadWithoutChangingIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	log, err := Open(path, Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	const n = 30
	for i := range n {
		if _, err := log.Append(t.Context(), ledgertest.NewEntry("default/task/t", uint64(i+1), "text"), ledger.Position(i)); err != nil {
			t.Fatal(err)
		}
	}
	killed := filepath.Join(t.TempDir(), "t.db")
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(killed+suffix, path+suffix); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what, path string) {
		t.Helper()
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := OpenReader(path)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		last, err := r.Last(t.Context())
		entries, rerr := r.Read(t.Context(), 10, 100)
		found, ferr := r.CheckFile(t.Context())
		if r.Moved() {
			t.Errorf("%s: it was moved", what)
		}
		if err := errors.Join(err, rerr, ferr, r.Close()); err != nil || last != n || len(entries) != n-10 || len(found) > 0 {
			t.Errorf("%s: it ends at %d, %d entries after 10, %v, %v", what, last, len(entries), found, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s: the file was changed, %v", what, err)
		}
	}
	check("an open log", path)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	check("a closed log", path)
	alone, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	if log, err = Open(path, Options{MinFree: -1}); err != nil {
		t.Fatal(err)
	}
	running := alone.Moved()
	if _, err := log.Append(t.Context(), ledgertest.NewEntry("default/task/t", n+1, "text"), n); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if !running || !alone.Moved() {
		t.Errorf("another log has the file: %v, and had it: %v", running, alone.Moved())
	}
	if err := alone.Close(); err != nil {
		t.Fatal(err)
	}
	check("that of a process that was killed", killed)
	dir, r, err := openCopy(path + "-none")
	if err == nil || r != nil {
		t.Errorf("a copy of nothing in %s: %v", dir, err)
	}
	_ = os.RemoveAll(dir)
	if r, err := OpenReader(path + "-none"); err == nil || r != nil {
		t.Errorf("a file that does not exist: %v", err)
	}
}

func TestPlainAndFramedEntriesAreReadSideBySide(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "t.db"), Options{})
	write(t, l, "x", 3)
	want, err := l.Read(t.Context(), 0, 9)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := want[1].Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Write(t.Context(), func(tx *sqlconn.Tx) error { return tx.Exec("UPDATE entries SET bytes = ? WHERE position = 2", plain) }); err != nil {
		t.Fatal(err)
	}
	got, err := l.Read(t.Context(), 0, 9)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// TestAFileIsCheckedAtOneTime appends entries of new streams while the file is checked.
func TestAFileIsCheckedAtOneTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	log, err := Open(path, Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if _, err := log.Append(context.Background(), ledgertest.NewEntry(ledger.Stream(fmt.Sprintf("default/task/t%d", i)), 1, "text"), 0); err != nil {
				done <- err
				return
			}
		}
	}()
	for range 40 {
		if found, err := r.CheckFile(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("%v, %v", found, err)
			break
		}
	}
	close(stop)
	if err := errors.Join(<-done, r.Close(), log.Close()); err != nil {
		t.Error(err)
	}
}
