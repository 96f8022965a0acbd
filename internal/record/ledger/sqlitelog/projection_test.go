package sqlitelog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// write appends n one-entry streams named prefix0, prefix1, …
func write(t testing.TB, l *Log, prefix string, n int) {
	t.Helper()
	for i := range n {
		if _, err := l.Append(t.Context(), ledgertest.NewEntry(ledger.StreamOf("w", "task", fmt.Sprint(prefix, i)), 1, "x"), 0); err != nil {
			t.Fatal(err)
		}
	}
}

// counted is what the views say: the number of streams and the cursor.
func counted(t testing.TB, l *Log) string {
	t.Helper()
	var n, cursor int
	if err := l.Readers().QueryRow("SELECT (SELECT count(*) FROM counts), (SELECT position FROM cursor)").Scan(&n, &cursor); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d streams, cursor %d", n, cursor)
}

func wantViews(t *testing.T, l *Log, when, want string, stale bool) {
	t.Helper()
	if got := counted(t, l); got != want || (l.Stale() != nil) != stale {
		t.Errorf("%s: views have %s, stale: %v; want %s, stale %v", when, got, l.Stale(), want, stale)
	}
	if err := l.Err(); err != nil {
		t.Errorf("%s: %v", when, err)
	}
}

func TestViewsAreThereWhenAppendAnswers(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "t.db"), Options{Projector: &counter{}})
	for i := range 20 {
		write(t, l, fmt.Sprint("s", i), 1)
		wantViews(t, l, "after an append", fmt.Sprintf("%d streams, cursor %d", i+1, i+1), false)
	}
}

func TestFailingProjectorNeverVetoesAnEntry(t *testing.T) {
	for name, spoil := range map[string]func(*counter){
		"error": func(c *counter) { c.fail = errors.New("bug in a view") },
		"panic": func(c *counter) { c.panics = true },
	} {
		t.Run(name, func(t *testing.T) {
			c := &counter{}
			l := open(t, filepath.Join(t.TempDir(), "t.db"), Options{Projector: c})
			write(t, l, "good", 2)
			change := func(fn func()) { // on the writer's goroutine, as the projector itself
				t.Helper()
				if err := l.Write(t.Context(), func(*sqlconn.Tx) error { fn(); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			change(func() { spoil(c) })
			good := func(version uint64, after ledger.Position) (ledger.Position, error) {
				return l.Append(t.Context(), ledgertest.NewEntry(ledger.StreamOf("w", "task", "good0"), version, "x"), after)
			}
			if at, err := good(2, 1); at != 3 || err != nil { // the append that the projector fails
				t.Errorf("appended at %d: %v", at, err)
			}
			if _, err := good(2, 1); !errors.Is(err, ledger.ErrConflict) {
				t.Errorf("the stream goes on where it did before the failure: %v", err)
			}
			if at, err := good(3, 3); at != 4 || err != nil {
				t.Errorf("appended at %d: %v", at, err)
			}
			write(t, l, "bad", 1)
			wantViews(t, l, "after the failure", "2 streams, cursor 2", true)
			if !strings.Contains(l.Stale().Error(), "bug in a view") {
				t.Errorf("stale says %v", l.Stale())
			}
			if err := l.CatchUp(t.Context()); err == nil || l.Stale() == nil {
				t.Errorf("catching up with the bug: %v, stale: %v", err, l.Stale())
			}
			change(func() { c.fail, c.panics = nil, false })
			wantViews(t, l, "after the failed attempt", "2 streams, cursor 2", true)
			if err := l.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantViews(t, l, "after catching up", "3 streams, cursor 5", false)
			write(t, l, "again", 1)
			wantViews(t, l, "afterwards", "4 streams, cursor 6", false)
		})
	}
}

func TestStaleViewsAreNoticedAtOpenAndRebuilt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	l := open(t, path, Options{})
	write(t, l, "before", rebuildBatch+10)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, path, Options{Projector: &counter{}})
	wantViews(t, l, "views added later", "0 streams, cursor 0", true)
	stop := make(chan struct{})
	writing := make(chan struct{})
	go func() { // appends go on during the catching up
		defer close(writing)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				write(t, l, fmt.Sprint("during", i, "-"), 1)
			}
		}
	}()
	if err := l.CatchUp(t.Context()); err != nil {
		t.Error(err)
	}
	close(stop)
	<-writing
	last, _ := l.Last(t.Context())
	want := fmt.Sprintf("%d streams, cursor %d", last, last)
	wantViews(t, l, "after catching up", want, false)
	if err := l.Write(t.Context(), func(tx *sqlconn.Tx) error { return tx.Exec("INSERT INTO counts VALUES('nonsense', 1)") }); err != nil {
		t.Fatal(err)
	}
	if counted(t, l) == want {
		t.Error("the nonsense was not written")
	}
	if err := l.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantViews(t, l, "after the rebuild", want, false)
}

func TestTheTablesOfTheViewsMayBeLate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	l := open(t, path, Options{Projector: &counter{late: true}})
	write(t, l, "s", 3)
	wantViews(t, l, "not written", "0 streams, cursor 0", false)
	for range 2 {
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantViews(t, l, "written", "3 streams, cursor 3", false)
	}
	write(t, l, "more", 2)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, path, Options{Projector: &counter{late: true}})
	wantViews(t, l, "after a restart", "3 streams, cursor 3", true)
	if err := l.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantViews(t, l, "after catching up", "5 streams, cursor 5", false)
}

// large is a counter that needs much space for one entry.
type large struct{ *counter }

func (c large) Project(tx *sqlconn.Tx, entries []ledger.Entry) (bool, error) {
	written, err := c.counter.Project(tx, entries)
	if err == nil && strings.Contains(string(entries[0].Stream), "large") {
		_, err = c.upsert.Exec(strings.Repeat("0123456789", 100_000))
	}
	return written, err
}

// What the tables lack when a transaction is undone is projected again, with the next entries or when it is read.
func TestAnUndoneTransactionLosesNothingThatTheTablesLack(t *testing.T) {
	for name, next := range map[string]func(l *Log){
		"entries": func(l *Log) { write(t, l, "next", 1) },
		"a read":  func(*Log) {},
	} {
		t.Run(name, func(t *testing.T) {
			c := &counter{late: true}
			l := open(t, filepath.Join(t.TempDir(), "t.db"), Options{Projector: large{c}})
			write(t, l, "s", 3)
			pages := func(n string) {
				t.Helper()
				if err := l.Write(t.Context(), func(tx *sqlconn.Tx) error { return tx.Exec("PRAGMA max_page_count=" + n) }); err != nil {
					t.Fatal(err)
				}
			}
			pages("1")
			if _, err := l.Append(t.Context(), ledgertest.NewEntry(ledger.StreamOf("w", "task", "large"), 1, "x"), 0); !errors.Is(err, ledger.ErrFull) {
				t.Fatalf("an append to a full file: %v", err)
			}
			if len(c.heard) > 0 {
				t.Error("the projector has what is not in the record")
			}
			pages("1000000")
			next(l)
			if err := l.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			last, _ := l.Last(t.Context())
			wantViews(t, l, "afterwards", fmt.Sprintf("%d streams, cursor %d", last, last), false)
		})
	}
}

// Writing stops if an append panics on the goroutine of its caller, who may recover: a transaction may be open.
func TestAnAppendThatPanicsStopsWriting(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "t.db"), Options{Committed: func(int, time.Duration) { panic("a fault") }})
	first, second := ledgertest.NewEntry(ledger.StreamOf("w", "task", "1"), 1, "x"), ledgertest.NewEntry(ledger.StreamOf("w", "task", "2"), 1, "x")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the append has ended")
			}
		}()
		_, _ = l.Append(t.Context(), first, 0)
	}()
	if _, err := l.Append(t.Context(), second, 0); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("the next append: %v", err)
	}
}

func TestWriteIsOneTransaction(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "t.db"), Options{Projector: &counter{}})
	no := errors.New("no")
	err := l.Write(t.Context(), func(tx *sqlconn.Tx) error {
		if err := tx.Exec("INSERT INTO counts VALUES('half', 1)"); err != nil {
			return err
		}
		return no
	})
	if !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
	if err := l.Write(t.Context(), func(tx *sqlconn.Tx) error { return tx.Exec("NONSENSE") }); err == nil {
		t.Error("bad SQL was accepted")
	}
	wantViews(t, l, "after the failed writes", "0 streams, cursor 0", false)
	write(t, l, "still", 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Write(ctx, func(*sqlconn.Tx) error { return nil }); !errors.Is(err, ledger.ErrUnknown) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestReadersCannotWrite(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "t.db"), Options{Projector: &counter{}})
	if _, err := l.Readers().Exec("DELETE FROM entries"); err == nil {
		t.Error("a reader has written")
	}
	if n := l.Readers().Stats().MaxOpenConnections; n != defaultViewReaders {
		t.Errorf("%d readers", n)
	}
}
