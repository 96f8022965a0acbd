package sqlitelog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

const testReserve = 1 << 20

// disk is a file system whose free space a test sets. A reserve takes its part of it.
type disk struct {
	free    atomic.Int64
	reserve string
}

func (d *disk) space(string) (int64, error) {
	free := d.free.Load()
	if info, err := os.Stat(d.reserve); err == nil {
		free -= info.Size()
	}
	return free, nil
}

func onDisk(t *testing.T, free int64) (d *disk, path string, o Options) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "t.db")
	d = &disk{reserve: path + ".reserve"}
	d.free.Store(free)
	return d, path, Options{Projector: &counter{}, Reserve: testReserve, space: d.space}
}

// recordRead appends what is recorded without a decision.
func recordRead(t *testing.T, l *Log) error {
	t.Helper()
	_, err := l.Append(t.Context(), ledgertest.NewEntry("w/access/agent:ann", 0, "read"), ledger.Any)
	return err
}

func change(t *testing.T, l *Log, stream ledger.Stream) error {
	t.Helper()
	_, err := l.Append(t.Context(), ledgertest.NewEntry(stream, 1, "x"), 0)
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestOnAFullDiskReadsAreRecordedAndChangesRefused(t *testing.T) {
	d, path, o := onDisk(t, 1<<30)
	l := open(t, path, o)
	if err := change(t, l, "w/task/a"); err != nil {
		t.Fatal(err)
	}
	if !exists(d.reserve) {
		t.Fatal("there is no reserve")
	}
	for _, free := range []int64{defaultMinFree, decisionSpace + testReserve, leastSpace + testReserve/2} {
		d.free.Store(free)
		if err := change(t, l, "w/task/b"); !errors.Is(err, ledger.ErrFull) || !errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("%d bytes free: a change: %v", free, err)
		}
		if err := recordRead(t, l); err != nil {
			t.Errorf("%d bytes free: a read: %v", free, err)
		}
		if err := l.Err(); !errors.Is(err, ledger.ErrFull) {
			t.Errorf("%d bytes free: %v", free, err)
		}
	}
	if exists(d.reserve) {
		t.Error("the reserve was not used")
	}
	d.free.Store(leastSpace - 1)
	if err := recordRead(t, l); !errors.Is(err, ledger.ErrFull) {
		t.Errorf("without any room: %v", err)
	}
	d.free.Store(1 << 30)
	if err := errors.Join(l.Err(), change(t, l, "w/task/b")); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if !exists(d.reserve) {
		t.Error("there is no reserve again")
	}
}

func TestWhatFillsTheDiskDoesNotTakeTheWholeReserveWithOneRead(t *testing.T) {
	d, path, o := onDisk(t, 1<<30)
	const pieces = 4
	o.Reserve = pieces * (leastSpace + commitSpace)
	l := open(t, path, o)
	if err := change(t, l, "w/task/a"); err != nil {
		t.Fatal(err)
	}
	for piece := range int64(pieces) {
		// Each time another program has taken all that there is, except what the reserve still holds.
		held, err := os.Stat(d.reserve)
		if err != nil || held.Size() != o.Reserve/pieces*(pieces-piece) {
			t.Fatalf("before read %d the reserve is %v, %v", piece+1, held, err)
		}
		d.free.Store(held.Size())
		if err := recordRead(t, l); err != nil {
			t.Errorf("read %d: %v", piece+1, err)
		}
	}
	if exists(d.reserve) {
		t.Error("the reserve was not used")
	}
	d.free.Store(0)
	if err := recordRead(t, l); !errors.Is(err, ledger.ErrFull) {
		t.Errorf("without any room: %v", err)
	}
}

func TestOneBatchOnAFullDiskRecordsItsReadsAlone(t *testing.T) {
	d, path, o := onDisk(t, 1<<30)
	l := open(t, path, o)
	d.free.Store(decisionSpace)
	var batch []*request
	for i := range 6 {
		r := newRequest()
		r.entry, r.expect = ledgertest.NewEntry("w/access/agent:ann", 0, "read"), ledger.Any
		if i%2 == 0 {
			r.entry, r.expect = ledgertest.NewEntry("w/task/x", 1, "x"), 0
		}
		if err := r.set(r.expect); err != nil {
			t.Fatal(err)
		}
		batch = append(batch, r)
	}
	if err := l.do(t.Context(), func(w *writer) error { w.serve(batch, newResponder()); return nil }); err != nil {
		t.Fatal(err)
	}
	for i, r := range batch {
		<-r.done
		if read := i%2 == 1; read != (r.err == nil) || read != (r.position > 0) {
			t.Errorf("request %d: position %d, %v", i, r.position, r.err)
		}
	}
	if last, _ := l.Last(t.Context()); last != 3 {
		t.Errorf("last is %d, want 3", last)
	}
}

func TestALogOpensOnAFullDisk(t *testing.T) {
	d, path, o := onDisk(t, 1<<30)
	l := open(t, path, o)
	if err := change(t, l, "w/task/a"); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	d.free.Store(leastSpace)
	l = open(t, path, o)
	if exists(d.reserve) {
		t.Error("the reserve was not used")
	}
	if got, err := l.Read(t.Context(), 0, 10); err != nil || len(got) != 1 {
		t.Errorf("%d entries, %v", len(got), err)
	}
	if err := recordRead(t, l); err != nil {
		t.Errorf("a read: %v", err)
	}
	if err := change(t, l, "w/task/b"); !errors.Is(err, ledger.ErrFull) {
		t.Errorf("a change: %v", err)
	}
}

func TestAReserveIsNotMadeOfTheLastSpace(t *testing.T) {
	d, path, o := onDisk(t, defaultMinFree+testReserve-1)
	l := open(t, path, o)
	if err := change(t, l, "w/task/a"); err != nil {
		t.Fatal(err)
	}
	if exists(d.reserve) {
		t.Error("a reserve was made where there is hardly enough space to write")
	}
}

func TestADatabaseThatIsFullRecordsReadsOnceTheReserveIsReleased(t *testing.T) {
	_, path, o := onDisk(t, 1<<30)
	l := open(t, path, o)
	limitPages(t, l, 20)
	fillUntilFull(t, l)
	// The limit of pages stands for a quota that the free space does not show.
	limitPages(t, l, 40)
	if err := recordRead(t, l); err != nil {
		t.Errorf("a read: %v", err)
	}
}

func TestOnAFullDiskWhatIsDecidedForAReadLeavesRoomForTheRecordsOfReads(t *testing.T) {
	d, path, o := onDisk(t, 1<<30)
	l := open(t, path, o)
	last, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/a", 1, "x"), 0)
	if err != nil {
		t.Fatal(err)
	}
	d.free.Store(defaultMinFree)
	for _, want := range []error{nil, ledger.ErrConflict} { // the second as one that was late
		at, err := l.Append(ledger.ForRead(t.Context()), ledgertest.NewEntry("w/task/a", 2, "packed"), last)
		if !errors.Is(err, want) || want == nil && at != last+1 {
			t.Errorf("what is decided for a read: %d, %v, want %v", at, err, want)
		}
	}
	d.free.Store(decisionSpace - 1)
	if _, err := l.Append(ledger.ForRead(t.Context()), ledgertest.NewEntry("w/task/a", 3, "packed"), last+1); !errors.Is(err, ledger.ErrFull) {
		t.Errorf("with little room: %v", err)
	}
	if err := recordRead(t, l); err != nil {
		t.Errorf("the record of a read: %v", err)
	}
}

// filling is a counter that finds the disk full when it first writes.
type filling struct {
	*counter
	full bool
}

func (f *filling) Flush(tx *sqlconn.Tx) error {
	if f.full {
		return errors.Join(tx.Exec("PRAGMA max_page_count=1000000"), f.counter.Flush(tx))
	}
	f.full = true
	if err := tx.Exec("PRAGMA max_page_count=1"); err != nil {
		return err
	}
	_, err := f.upsert.Exec(strings.Repeat("0123456789", 100_000))
	return err
}

// A reader whose tables are to be written when the disk has just become full gets what the reserve keeps for that.
func TestTheTablesOfViewsAreWrittenWithTheReserve(t *testing.T) {
	_, path, o := onDisk(t, 1<<30)
	o.Projector = &filling{counter: &counter{late: true}}
	l := open(t, path, o)
	write(t, l, "s", 3)
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantViews(t, l, "with the reserve", "3 streams, cursor 3", false)
}
