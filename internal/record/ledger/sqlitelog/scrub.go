package sqlitelog

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// scrubInMemory is the greatest size, in bytes, of a database that is written again from memory.
const scrubInMemory = 64 << 20

// scrubTries is how often the write-ahead log is tried to be emptied while others read: each try waits for some seconds.
const scrubTries = 5

// Scrub removes from the files what is no longer in a table: it writes the database again without its free pages, and empties the
// write-ahead log and the entries in memory. Appends wait for it, about ten seconds per GB. It needs as much free space as the database has.
func (l *Log) Scrub(ctx context.Context) error {
	return l.do(ctx, func(w *writer) error {
		l.tail.Drop()
		return w.scrub()
	})
}

func (w *writer) scrub() error {
	if err := w.log.health.check(); err != nil {
		return err
	}
	info, err := os.Stat(w.log.path)
	if err != nil {
		return err
	}
	free, err := w.log.opts.space(w.log.health.dir)
	if need := 2*(info.Size()+w.log.LogSize()) + max(w.log.opts.MinFree, 0); err == nil && free < need {
		return fmt.Errorf("%w: writing the database again takes %d MiB", ledger.ErrFull, need>>20)
	}
	if info.Size() > scrubInMemory {
		if err := w.conn.Exec("PRAGMA temp_store=file"); err != nil {
			return err
		}
		defer func() { _ = w.conn.Exec("PRAGMA temp_store=memory") }() // as it was opened
	}
	if err := w.conn.Exec("VACUUM"); err != nil {
		return w.log.health.classify(err, false)
	}
	return w.emptyLog()
}

// emptyLog copies the write-ahead log into the database and makes it empty.
func (w *writer) emptyLog() error {
	for range scrubTries {
		busy := false
		if err := w.conn.Query(func(row sqlconn.Row) error { busy = row.Int64(0) != 0; return nil }, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			return w.log.health.classify(err, false)
		}
		if !busy {
			w.pages = 0
			return nil
		}
	}
	return errors.New("sqlitelog: a long read keeps the write-ahead log from being emptied")
}
