package sqlview_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/kept"

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/cursor"
)

// disk are cursors in a database, with the number of transactions that were for them alone.
type disk struct {
	*testing.T
	*cursor.Cursors
	db *sqlitelog.Database

	mu     sync.Mutex // a timer writes
	alone  int
	refuse error
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	db, err := sqlitelog.OpenDatabase(filepath.Join(t.TempDir(), "views.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	d := &disk{T: t, Cursors: cursor.New(), db: db}
	d.do(func(tx *sqlconn.Tx) error {
		return errors.Join(tx.Exec(cursor.Schema), tx.Exec(kept.Schema), d.Read(tx))
	})
	d.Keep(func(_ context.Context, fn func(*sqlconn.Tx) error) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.alone++
		if d.refuse != nil {
			return d.refuse
		}
		return db.Write(fn)
	})
	return d
}

// refuses makes the transactions that are for cursors alone fail; nil: they succeed again.
func (d *disk) refuses(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refuse = err
}

func (d *disk) do(fn func(*sqlconn.Tx) error) {
	d.Helper()
	if err := d.db.Write(fn); err != nil {
		d.Fatal(err)
	}
}

// want checks what a process that starts now would read, and how often cursors were written alone.
func (d *disk) want(at ledger.Position, alone int) {
	d.Helper()
	again := cursor.New()
	d.do(again.Read)
	d.mu.Lock()
	defer d.mu.Unlock()
	if got := again.Get("f"); got != at || d.alone != alone {
		d.Errorf("on disk: %d, after %d transactions; want %d after %d", got, d.alone, at, alone)
	}
}

func TestAPositionIsWrittenAfterASecondInWhichNoEntryIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(t)
		for at := range ledger.Position(5) {
			d.Save("f", at+1)
		}
		d.want(0, 0)
		time.Sleep(cursor.Delay)
		synctest.Wait()
		d.want(5, 1)
		time.Sleep(time.Hour)
		d.want(5, 1)
		d.Close()
		d.want(5, 1)
	})
}

func TestPositionsOnABusyServerNeedNoTransactionOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(t)
		for at := range ledger.Position(100) {
			d.Save("f", at+1)
			time.Sleep(cursor.Delay / 10)
			d.do(d.Write) // as with entries
			d.Save("f", at+2)
		}
		d.want(100, 0)
		d.Close()
		d.want(101, 1)
	})
}

func TestAPositionThatCouldNotBeWrittenIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(t)
		d.refuses(errors.New("the disk is full"))
		d.Save("f", 3)
		time.Sleep(3 * cursor.Delay)
		synctest.Wait()
		d.want(0, 3)
		d.refuses(nil)
		time.Sleep(cursor.Delay)
		synctest.Wait()
		d.want(3, 4)
		d.Save("f", 4)
		d.Close()
		d.Close()
		d.want(4, 5)
		d.Save("f", 5) // by a follower that ends late
		time.Sleep(time.Hour)
		d.want(4, 5)
	})
}
