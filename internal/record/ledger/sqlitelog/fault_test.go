package sqlitelog

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/reserve"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/ledger/tail"
)

// limitPages makes SQLite report a full disk beyond a number of pages.
func limitPages(t *testing.T, l *Log, extra int) {
	t.Helper()
	err := l.Write(t.Context(), func(tx *sqlconn.Tx) error {
		var pages int64
		if err := tx.Query(func(r sqlconn.Row) error { pages = r.Int64(0); return nil }, "PRAGMA page_count"); err != nil {
			return err
		}
		return tx.Exec(fmt.Sprintf("PRAGMA max_page_count=%d", pages+int64(extra)))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFullDatabaseRefusesAndGoesOnWhenThereIsSpace(t *testing.T) {
	// Other programs free space on the disk of this machine at any time, which ends the refusal.
	same := func(string) (int64, error) { return 1 << 30, nil }
	l := open(t, filepath.Join(t.TempDir(), "t.db"), Options{Projector: &counter{}, space: same})
	limitPages(t, l, 20)
	fillUntilFull(t, l)
	if err := l.Err(); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("Err: %v", err)
	}
	before, _ := l.Last(t.Context())
	if got, err := l.Read(t.Context(), before, 10); err != nil || len(got) != 0 {
		t.Errorf("refused entries are there: %v, %v", got, err)
	}
	limitPages(t, l, 1<<20)
	write(t, l, "resumed", 5)
	want := fmt.Sprintf("%d streams, cursor %d", before+5, before+5)
	wantViews(t, l, "after space was made", want, false)
}

// fillUntilFull appends from several clients until one is refused, and checks that exactly what was acknowledged
// is there.
func fillUntilFull(t *testing.T, l *Log) {
	t.Helper()
	var mu sync.Mutex
	acknowledged := map[ledger.Position]ledger.Stream{}
	var wg sync.WaitGroup
	for c := range 8 {
		wg.Go(func() {
			for i := range 100_000 {
				s := ledger.StreamOf("w", "task", fmt.Sprintf("fill%d-%d", c, i))
				p, err := l.Append(t.Context(), ledgertest.KiB(s, 1), 0)
				if err != nil {
					if !errors.Is(err, ledger.ErrUnavailable) {
						t.Errorf("refused with %v, want ErrUnavailable", err)
					}
					return
				}
				mu.Lock()
				acknowledged[p] = s
				mu.Unlock()
			}
			t.Error("the disk is never full")
		})
	}
	wg.Wait()
	found := 0
	var after ledger.Position
	for {
		page, err := l.Read(t.Context(), after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			after = e.Position
			if s, ok := acknowledged[e.Position]; ok && s == e.Stream {
				found++
			} else {
				t.Errorf("entry %d of %s was never acknowledged", e.Position, e.Stream)
			}
		}
	}
	if found != len(acknowledged) {
		t.Errorf("%d of %d acknowledged entries are there", found, len(acknowledged))
	}
}

func TestLittleFreeSpaceRefusesBeforeTheDiskIsFull(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "t.db"), Options{MinFree: 1 << 62})
	if free, err := reserve.Free(t.TempDir()); err != nil || free == 1<<63-1 {
		t.Skip("free space is not known on this system")
	}
	if _, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/x", 1, "x"), 0); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if err := l.Err(); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("Err: %v", err)
	}
}

func TestAbandonedAppendsAreNotWritten(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "t.db"), Options{})
	r := &request{entry: ledgertest.NewEntry("w/task/x", 1, "x"), done: make(chan struct{})}
	if err := r.set(0); err != nil {
		t.Fatal(err)
	}
	r.abandoned.Store(true)
	l.queue.append(r)
	<-r.done
	if !errors.Is(r.err, ledger.ErrUnknown) {
		t.Errorf("got %v", r.err)
	}
	write(t, l, "y", 1)
	if last, _ := l.Last(t.Context()); last != 1 {
		t.Errorf("last is %d, want 1", last)
	}
}

func TestFollowerReadsTheDatabaseBeyondTheTail(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "t.db"), Options{})
	var wg sync.WaitGroup
	const n = tail.MaxEntries + 500
	for c := range 50 {
		wg.Go(func() {
			for i := c; i < n; i += 50 {
				write(t, l, fmt.Sprint("s", i, "-"), 1)
			}
		})
	}
	wg.Wait()
	var after ledger.Position
	err := l.Follow(t.Context(), 0, func(batch []ledger.Entry) error {
		for _, e := range batch {
			if after++; e.Position != after {
				return fmt.Errorf("%d at place %d", e.Position, after)
			}
		}
		if after == n {
			return errEnd
		}
		return nil
	})
	if !errors.Is(err, errEnd) {
		t.Error(err)
	}
	if entries, bytes := l.tail.Size(); entries > tail.MaxEntries || bytes > tail.MaxBytes {
		t.Errorf("tail of %d entries, %d bytes", entries, bytes)
	}
}

var errEnd = errors.New("end")

// A reader that meets the index of the write-ahead log while it changes takes the lock of the writer for a moment; so may another program.
func TestAnAppendWaitsForALockOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.db")
	l := open(t, path, Options{})
	other, err := sqlconn.Open(writerDSN(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/t", 1, "waits"), 0)
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	if err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
