package sqlitelog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/filelock"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// Database is a SQLite file for views that follow a ledger of another technology. Like a [Log] it has transactions on one
// writing connection, and a pool for reading. It is safe for concurrent use.
type Database struct {
	mu       sync.Mutex
	conn     *sqlconn.Conn
	begin    *sqlconn.Stmt
	commit   *sqlconn.Stmt
	rollback *sqlconn.Stmt
	readers  *sql.DB
	lock     io.Closer // that other processes cannot take; nil for a temporary file

	temporary bool
	scratch   string // directory that is still to be removed
}

// OpenDatabase opens the file at path, or creates it. The empty path means a temporary file that Close removes. For one reader its name is removed at once, where the system allows that: nothing is left by a
// process that is killed, and a connection that was interrupted is not opened again; another one is for one Database at a time, and [ErrInUse] says that it has one.
// Commits do not wait for the disk: after a loss of power the file holds some earlier commit in full.
// readers is the greatest number of connections for reading, about 4 MB each.
func OpenDatabase(path string, readers int) (_ *Database, err error) {
	d := &Database{temporary: path == ""}
	synchronous := "normal"
	if d.temporary {
		synchronous = "off"
		if d.scratch, err = os.MkdirTemp("", "trapeze-views-*"); err != nil {
			return nil, scratchError(err)
		}
		path = filepath.Join(d.scratch, "views.db")
	}
	if path, err = filepath.Abs(path); err == nil && !d.temporary {
		d.lock, err = filelock.Await(path + ".lock")
	}
	if err == nil {
		err = d.open(path, synchronous, readers)
	}
	if err == nil && d.temporary && readers == 1 {
		err = d.unlink()
	}
	switch {
	case err != nil && d.temporary:
		return nil, errors.Join(scratchError(err), d.Close())
	case err != nil:
		return nil, errors.Join(explain(path, err), d.Close())
	}
	return d, nil
}

func (d *Database) open(path, synchronous string, readers int) (err error) {
	if err := createFile(path); err != nil {
		return err
	}
	d.conn, err = sqlconn.Open(sqlconn.DSN(path, "rw", pragma("page_size", pageSize), pragma("journal_mode", "wal"),
		pragma("synchronous", synchronous), pragma("wal_autocheckpoint", followPages), pragma("temp_store", "memory"), pragma("cache_size", -writerCacheKiB)))
	if err != nil {
		return err
	}
	for _, p := range []struct {
		stmt  **sqlconn.Stmt
		query string
	}{{&d.begin, "BEGIN IMMEDIATE"}, {&d.commit, "COMMIT"}, {&d.rollback, "ROLLBACK"}} {
		if *p.stmt, err = d.conn.Prepare(p.query); err != nil {
			return err
		}
	}
	if d.readers, err = sql.Open("sqlite", readerDSN(path)); err != nil {
		return err
	}
	d.readers.SetMaxOpenConns(readers)
	d.readers.SetMaxIdleConns(readers)
	return nil
}

// Write runs fn in a transaction. An error or panic of fn rolls it back.
func (d *Database) Write(fn func(*sqlconn.Tx) error) (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.begin.Exec(); err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic in a transaction: %v", r)
		}
		if err != nil {
			_, _ = d.rollback.Exec() // fails if SQLite has rolled back by itself
		}
		if d.temporary && (isFull(err) || code(err) == codeIOErr) {
			err = scratchError(err)
		}
	}()
	if err := fn(d.conn.Tx()); err != nil {
		return err
	}
	_, err = d.commit.Exec()
	return err
}

// unlink has both connections open all files, and removes their names, where the system allows that.
func (d *Database) unlink() error {
	var n int
	err := errors.Join(d.Write(func(*sqlconn.Tx) error { return nil }), d.readers.QueryRowContext(context.Background(), "SELECT count(*) FROM sqlite_schema").Scan(&n))
	if err == nil && os.RemoveAll(d.scratch) == nil {
		d.scratch = ""
	}
	return err
}

// Readers returns a pool of read-only connections. Each query sees the state after a commit that is not older than the last
// return of Write.
func (d *Database) Readers() *sql.DB { return d.readers }

// Close releases everything.
func (d *Database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	if d.readers != nil {
		errs = append(errs, d.readers.Close())
	}
	if d.conn != nil {
		errs = append(errs, d.conn.Close())
	}
	if d.lock != nil {
		errs = append(errs, d.lock.Close())
	}
	if d.scratch != "" {
		errs = append(errs, os.RemoveAll(d.scratch))
	}
	d.readers, d.conn, d.lock, d.scratch = nil, nil, nil, ""
	return errors.Join(errs...)
}
