package sqlitelog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/filelock"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// Reader reads the file of a log without changing it: that of a server that runs, of one that is stopped, or a copy, which may be read-only.
type Reader struct {
	mu   sync.Mutex
	file *reader
	name string // for another connection
	dir  string // to remove when closing

	path    string
	alone   os.FileInfo // of the file, if no program wrote it when it was opened
	journal error       // that there is one beside the file

	numbers numbers
	heads   heads
	sealer  ledger.Sealer

	segments Segments
}

// OpenReader opens the file of a log for reading. A copy whose write-ahead log was not copied into the database is read from a second copy, in
// the temporary directory, if the first one cannot be written to. Errors: those of the file system or SQLite; ErrUnavailable if the temporary directory cannot be used.
func OpenReader(path string) (_ *Reader, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if err := canRead(path); err != nil {
		return nil, fmt.Errorf("sqlitelog: %w", err)
	}
	r := &Reader{path: path, journal: filelock.ForeignJournal(path, pageSize)}
	if filelock.IsAlone(path) {
		if r.alone, err = os.Stat(path); err != nil {
			return nil, fmt.Errorf("sqlitelog: %w", err)
		}
		r.name = sqlconn.DSN(path, "ro", pragma("query_only", "on")) + "&immutable=1"
		if r.file, err = openFor(r.name); err != nil {
			return nil, explain(path, err)
		}
		return r, nil
	}
	r.name = readerDSN(path)
	if r.file, err = openFor(r.name); err == nil {
		if _, err = r.Last(context.Background()); err == nil {
			return r, nil
		}
		_ = r.file.conn.Close() // the copy tells whether it can be read
	}
	if r.dir, r.file, err = openCopy(path); err != nil {
		if !errors.Is(err, ledger.ErrUnavailable) {
			err = explain(path, err)
		}
		return nil, errors.Join(err, r.remove())
	}
	r.name = readerDSN(filepath.Join(r.dir, copyName))
	return r, nil
}

// Moved reports whether the file was opened as one that no program writes, and one has begun to: what was read since may be of two times.
func (r *Reader) Moved() bool {
	if r.alone == nil {
		return false
	}
	now, err := os.Stat(r.path)
	return err != nil || !filelock.IsAlone(r.path) || !now.ModTime().Equal(r.alone.ModTime()) || now.Size() != r.alone.Size()
}

// canRead returns an error of the file system if a file cannot be read: SQLite does not tell why.
func canRead(path string) error {
	f, err := os.Open(path) //nolint:gosec // the path is the operator's
	if err != nil {
		return err
	}
	return f.Close()
}

// Open has the reader open sealed entries. Without it, it reads their outlines. Call it before others.
func (r *Reader) Open(s ledger.Sealer) { r.sealer = s }

// Attach has the reader read what was put away in segments. Without it, such an entry is a [ledger.PutAway]. Call it before others.
func (r *Reader) Attach(s Segments) { r.segments = s }

// IsSealed reports whether the record has sealed entries, or may get them.
func (r *Reader) IsSealed() (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	version, err := r.file.conn.Number("PRAGMA user_version")
	return version >= sealedFormats, err
}

func openFor(name string) (*reader, error) {
	c, err := sqlconn.Open(name)
	if err != nil {
		return nil, err
	}
	r := &reader{conn: c}
	version, err := c.Number("PRAGMA user_version")
	if err == nil && version%sealedFormats > Format {
		err = newerFormat(version)
	}
	if err == nil {
		r.read, err = c.Prepare(readQuery)
	}
	if err == nil {
		r.stream, err = c.Prepare(streamQuery)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return r, nil
}

const copyName = "copy.db"

// openCopy opens a copy of a database and its write-ahead log.
func openCopy(path string) (dir string, r *reader, err error) {
	if dir, err = os.MkdirTemp("", "trapeze-verify-*"); err != nil {
		return dir, nil, scratchError(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(filepath.Join(dir, copyName+suffix), path+suffix); err != nil {
			return dir, nil, err
		}
	}
	r, err = openFor(readerDSN(filepath.Join(dir, copyName)))
	return dir, r, err
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from) //nolint:gosec // the path is the operator's
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // in a new directory
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = out.ReadFrom(in)
	if err = errors.Join(err, out.Close(), in.Close()); isFull(err) {
		return scratchError(err)
	}
	return err
}

// ofMachine is an ErrUnavailable for an error that tells nothing of the record.
type ofMachine struct{ error }

func (e ofMachine) Unwrap() error      { return e.error }
func (ofMachine) Is(target error) bool { return target == ledger.ErrUnavailable }

// scratchError is an ErrUnavailable for an error of the temporary directory.
func scratchError(err error) error {
	return ofMachine{fmt.Errorf("the temporary directory cannot be used (set TMPDIR to another one): %w", err)}
}

// ReadError is an ErrUnavailable if an error of reading the file is one of the machine, and otherwise the error.
func ReadError(err error) error {
	switch code(err) {
	case codeBusy, codeNoMem, codeIOErr, codeFull:
		return ofMachine{err}
	}
	return err
}

// Read is that of [ledger.Ledger].
func (r *Reader) Read(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := errors.Join(ctx.Err(), checkLimit(limit)); err != nil {
		return nil, err
	}
	entries, err := collect(r.file.read, chain{last: after, indexed: r.indexed, sealer: r.sealer, segments: r.segments}, after, limit)
	return entries, ReadError(err)
}

// Stream is that of [ledger.Ledger].
func (r *Reader) Stream(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := errors.Join(ctx.Err(), checkLimit(limit)); err != nil {
		return nil, err
	}
	entries, err := collect(r.file.stream, chain{stream: s, last: after, sealer: r.sealer, segments: r.segments}, string(s), after, limit)
	return entries, ReadError(err)
}

// Views returns a connection for the tables of the views. The caller closes it, before the reader.
func (r *Reader) Views() (*sql.DB, error) {
	db, err := sql.Open("sqlite", r.name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// Last is that of [ledger.Ledger].
func (r *Reader) Last(ctx context.Context) (ledger.Position, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	last, err := r.file.conn.Number("SELECT max(position) FROM entries")
	return ledger.Position(last), ReadError(err) //nolint:gosec // never negative
}

// CheckFile has SQLite look for what is wrong with the structure of the file, and compares the index of streams with what the entries say. It returns what it finds, nothing if the file is well. It may be called while entries are read. Error: *[IndexError], and those of the file.
func (r *Reader) CheckFile(ctx context.Context) (found []string, err error) {
	defer func() { err = ReadError(err) }()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := sqlconn.Open(r.name) // of its own: entries are read meanwhile
	if err != nil {
		return nil, ofMachine{err} // the file was opened before
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Exec("BEGIN"); err != nil { // all of it is compared at one time: a server may append meanwhile
		return nil, err
	}
	defer func() { _ = c.Exec("ROLLBACK") }() // nothing to lose
	err = c.Query(func(row sqlconn.Row) error {
		if what := row.Text(0); what != "ok" {
			found = append(found, what)
		}
		return nil
	}, "PRAGMA integrity_check(20)")
	if err != nil {
		return found, err
	}
	if r.journal != nil {
		found = append(found, r.journal.Error())
	}
	list, err := planted(c)
	if found = append(found, list...); err != nil {
		return found, err
	}
	last, err := c.Number("SELECT max(position) FROM entries")
	if err != nil {
		return found, err
	}
	list, err = marks(c, ledger.Position(last)) //nolint:gosec // never negative
	if found = append(found, list...); err != nil {
		return found, err
	}
	_, err = checkIndex(c, ledger.Position(last)) //nolint:gosec // never negative
	return found, err
}

// misnamed selects what is declared in the file under another name than its own.
const misnamed = `SELECT name FROM sqlite_schema WHERE CASE
	WHEN type = 'table' THEN name <> tbl_name OR instr(sql, name) = 0
	WHEN sql IS NULL THEN instr(name, 'sqlite_autoindex_' || tbl_name || '_') <> 1
	ELSE instr(sql, name) = 0 OR instr(sql, tbl_name) = 0 END`

// marks returns what is wrong with the numbers that say what the file is, and with the names of what is in it.
func marks(c *sqlconn.Conn, last ledger.Position) (found []string, err error) {
	app, aerr := c.Number("PRAGMA application_id")
	version, verr := c.Number("PRAGMA user_version")
	_, _, indexed, err := newestSum(c, last)
	if err := errors.Join(aerr, verr, err); err != nil {
		return nil, err
	}
	err = c.Query(func(row sqlconn.Row) error {
		found = append(found, fmt.Sprintf("%q is declared under another name", row.Text(0)))
		return nil
	}, misnamed)
	if err != nil {
		return found, err
	}
	if app != applicationID {
		found = append(found, "its application_id is not that of a record of Trapeze")
	}
	switch {
	case !isFormat(version):
		found = append(found, notAFormat(version))
	case indexed && version%sealedFormats < indexedFormat:
		found = append(found, fmt.Sprintf("its number of the format (user_version) is %d, and the newest entry is of a later one", version%sealedFormats))
	}
	return found, nil
}

func (r *Reader) remove() error {
	if r.dir == "" {
		return nil
	}
	return os.RemoveAll(r.dir)
}

// Close releases everything.
func (r *Reader) Close() error {
	return errors.Join(r.numbers.close(), r.file.conn.Close(), r.remove())
}
