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
	"sync/atomic"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/filelock"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/headcache"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/reserve"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/ledger/tail"
)

// ErrInUse is the error of Open if another log, in this or another process, has the file open.
var ErrInUse = filelock.ErrInUse

// Log is the embedded ledger. It is safe for concurrent use.
type Log struct {
	path   string
	opts   Options
	lock   io.Closer
	queue  *queue
	heads  *headcache.Cache
	tail   *tail.Tail
	writer *writer
	health health
	stale  atomic.Pointer[error]

	readers chan *reader // idle connections for Stream, Read and Follow
	views   *sql.DB

	closing  chan struct{} // closed when Close begins: ends followers
	finished chan struct{} // closed when the writer has ended
	closed   sync.Once
}

var _ ledger.Ledger = (*Log)(nil)

// Open opens the log at path and creates what is missing: the directory (mode 0700) and the database (0600).
// Errors: ErrInUse, if its holder does not release it within 3 s, and errors of the file system or SQLite with a hint what
// to do.
func Open(path string, opts Options) (*Log, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := createFile(path); err != nil {
		return nil, explain(path, err)
	}
	held, err := filelock.Await(path + ".lock")
	if err != nil {
		return nil, explain(path, err)
	}
	if err := filelock.ForeignJournal(path, pageSize); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlitelog: %s: %w; nothing was changed: keep a copy of the data directory, and find out who could write to it", path, err), held.Close())
	}
	l := &Log{
		path: path, opts: opts.withDefaults(), lock: held, queue: newQueue(), heads: headcache.New(),
		closing: make(chan struct{}), finished: make(chan struct{}),
	}
	l.health.dir, l.health.minFree, l.health.space = filepath.Dir(path), l.opts.MinFree, l.opts.space
	l.health.reserve = reserve.File{Path: path + ".reserve", Size: max(l.opts.Reserve, 0)}
	l.health.begin()
	if err := l.start(); err != nil {
		return nil, errors.Join(explain(path, err), held.Close())
	}
	return l, nil
}

// Reserve reserves a directory for this process until it is closed. Error: [ErrInUse].
func Reserve(dir string) (io.Closer, error) { return filelock.Await(filepath.Join(dir, "lock")) }

// start opens the connections and begins to write.
func (l *Log) start() (err error) {
	w, err := openWriter(l)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.closeReaders(), w.conn.Close())
		}
	}()
	l.writer, l.tail = w, tail.New(w.last)
	l.readers = make(chan *reader, ownReaders)
	for range ownReaders {
		r, err := openReader(l.path)
		if err != nil {
			return err
		}
		l.readers <- r
	}
	if l.views, err = sql.Open("sqlite", readerDSN(l.path)); err != nil {
		return err
	}
	l.views.SetMaxOpenConns(l.opts.ViewReaders)
	l.views.SetMaxIdleConns(l.opts.ViewReaders)
	if err := w.setupViews(); err != nil {
		return fmt.Errorf("views: %w", err)
	}
	go w.run()
	return nil
}

// Readers returns a pool of read-only connections for the views. Each query sees the state after a commit that is not older
// than the last return of Append. Prepare statements on it and reuse them; keep transactions short, because an old one
// stops checkpoints. The log closes the pool.
func (l *Log) Readers() *sql.DB { return l.views }

// Append implements [ledger.Ledger].
func (l *Log) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	if err := ctx.Err(); err != nil {
		return 0, unknown(err)
	}
	r := newRequest()
	r.entry, r.read = e, ledger.IsForRead(ctx)
	var err error
	if l.opts.Sealer != nil {
		err = r.seal(l.opts.Sealer)
	}
	if err == nil {
		err = r.set(expect)
	}
	if err != nil {
		r.free()
		return 0, err
	}
	defer ledger.Pause(ctx)()
	if l.inPlace(func(w *writer) { w.commitBatch([]*request{r}) }) {
		defer r.free()
		return r.position, r.err
	}
	if !l.queue.append(r) {
		return 0, errClosed
	}
	select {
	case <-r.done:
		defer r.free()
		return r.position, r.err
	case <-ctx.Done():
		r.abandoned.Store(true) // the writer skips it if it has not begun
		return 0, unknown(ctx.Err())
	}
}

// LogSize returns the size of the write-ahead log's file in bytes, 0 if it cannot be told.
func (l *Log) LogSize() int64 {
	info, err := os.Stat(l.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// Last implements [ledger.Ledger].
func (l *Log) Last(ctx context.Context) (ledger.Position, error) {
	if l.isClosing() {
		return 0, errClosed
	}
	return l.tail.Position(), ctx.Err()
}

// Err implements [ledger.Ledger].
func (l *Log) Err() error {
	if l.isClosing() {
		return errClosed
	}
	return l.health.err()
}

// Write runs fn in a transaction of its own, on the goroutine of the writer, and returns when it is on disk. An error of fn
// rolls back and is returned. It is for the tables of the projector: fn must not touch the tables of the ledger and must be
// quick, because appends wait for it. If ctx ends first the outcome is ledger.ErrUnknown.
func (l *Log) Write(ctx context.Context, fn func(*sqlconn.Tx) error) error {
	return l.do(ctx, func(w *writer) error { return w.transact(fn) })
}

// inPlace calls fn with the writer if nobody has it, and reports whether it has.
func (l *Log) inPlace(fn func(*writer)) bool {
	if !l.queue.enter() {
		return false
	}
	whole := false
	defer func() {
		if !whole { // it panics, and its caller may recover
			l.health.fail()
		}
		l.queue.leave()
	}()
	fn(l.writer)
	if l.writer.grown() {
		l.queue.job(func(*writer) {}) // after which the log is copied
	}
	whole = true
	return true
}

// do runs fn on the writer's goroutine.
func (l *Log) do(ctx context.Context, fn func(*writer) error) error {
	if err := ctx.Err(); err != nil {
		return unknown(err)
	}
	done := make(chan error, 1)
	if !l.queue.job(func(w *writer) { done <- fn(w) }) {
		return errClosed
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return unknown(ctx.Err())
	}
}

// Close implements [ledger.Ledger].
func (l *Log) Close() (err error) {
	l.closed.Do(func() {
		close(l.closing)
		l.queue.close()
		<-l.finished
		err = errors.Join(l.closeReaders(), l.writer.close(), l.lock.Close())
	})
	return err
}

func (l *Log) isClosing() bool {
	select {
	case <-l.closing:
		return true
	default:
		return false
	}
}

func (l *Log) closeReaders() error {
	var errs []error
	if l.views != nil {
		errs = append(errs, l.views.Close())
	}
	for range cap(l.readers) {
		select {
		case r := <-l.readers:
			errs = append(errs, r.conn.Close())
		case <-l.finished: // closing an open log: wait for the reads in progress
			r := <-l.readers
			errs = append(errs, r.conn.Close())
		default:
		}
	}
	return errors.Join(errs...)
}

var errClosed = fmt.Errorf("%w: the ledger is closed", ledger.ErrUnavailable)

func unknown(cause error) error { return fmt.Errorf("%w: %w", ledger.ErrUnknown, cause) }
