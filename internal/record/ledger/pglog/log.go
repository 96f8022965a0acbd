package pglog

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/tail"
)

// Log is one front end of a ledger in PostgreSQL. It is safe for concurrent use.
type Log struct {
	opts    Options
	config  *pgx.ConnConfig
	queries queries
	queue   *queue
	own     own
	tail    *tail.Tail
	health  health
	readers *pgxpool.Pool

	end      context.CancelFunc // of what the log does with the database by itself
	closing  chan struct{}      // closed when Close begins
	finished chan struct{}      // closed when the writer has ended
	running  sync.WaitGroup
	closed   sync.Once
}

var _ ledger.Ledger = (*Log)(nil)

// Open opens the record in the database at a URL, and creates its tables if there are none. Errors say what to do, and have no secret of
// the URL: it is refused if it would send entries unencrypted to another machine, and so is a server on which they would not be safe.
func Open(ctx context.Context, url string, opts Options) (*Log, error) {
	opts = opts.withDefaults()
	if err := opts.check(); err != nil {
		return nil, err
	}
	config, err := configure(url)
	if err != nil {
		return nil, err
	}
	l := &Log{
		opts: opts, config: config, queries: newQueries(opts.Schema), queue: newQueue(),
		closing: make(chan struct{}), finished: make(chan struct{}),
	}
	end, err := l.prepare(ctx)
	if err != nil {
		return nil, err
	}
	l.health.begin(end, opts.Acknowledged)
	l.tail = tail.New(end.last)
	ctx = context.WithoutCancel(ctx)
	if l.readers, err = newReaders(ctx, config); err != nil {
		return nil, err
	}
	ctx, l.end = context.WithCancel(ctx)
	go newWriter(l, config).run(ctx)
	l.running.Go(func() { l.listen(ctx) })
	return l, nil
}

// prepare creates the tables, and returns the state of the record.
func (l *Log) prepare(ctx context.Context) (end status, err error) {
	conn, err := connect(ctx, l.config)
	if err != nil {
		return end, err
	}
	defer hangUp(conn)
	if err := migrate(ctx, conn, l.opts.Schema); err != nil {
		return end, err
	}
	err = end.scan(conn.QueryRow(ctx, l.queries.status))
	return end, err
}

func newReaders(ctx context.Context, c *pgx.ConnConfig) (*pgxpool.Pool, error) {
	p, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, err
	}
	p.ConnConfig, p.MaxConns, p.MinConns = c.Copy(), maxReaders, 0
	return pgxpool.NewWithConfig(ctx, p)
}

// Append implements [ledger.Ledger].
func (l *Log) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	if err := ctx.Err(); err != nil {
		return 0, unknown(err)
	}
	r, err := newRequest(e, expect)
	if err != nil {
		return 0, err
	}
	if !l.queue.append(r) {
		return 0, errClosed
	}
	defer ledger.Pause(ctx)()
	select {
	case <-r.done:
		return r.position, r.err
	case <-ctx.Done():
		r.abandoned.Store(true) // the writer skips it if it has not begun
		return 0, unknown(ctx.Err())
	}
}

// Last implements [ledger.Ledger].
func (l *Log) Last(ctx context.Context) (ledger.Position, error) {
	var end status
	err := l.query(ctx, func(c *pgxpool.Conn) error { return end.scan(c.QueryRow(ctx, l.queries.status)) })
	return end.last, err
}

// query runs fn, which reads, on a connection, and once more on another if that was lost.
func (l *Log) query(ctx context.Context, fn func(*pgxpool.Conn) error) error {
	for again := true; ; again = false {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.isClosing() {
			return errClosed
		}
		lost := false
		err := l.readers.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
			err := fn(c)
			lost = err != nil && c.Conn().IsClosed()
			return err
		})
		_, damaged := errors.AsType[*ledger.Damaged](err)
		switch {
		case err == nil || damaged:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case l.isClosing():
			return errClosed
		case lost && again:
			l.readers.Reset() // the others were mostly lost with it
		default:
			return unavailable(err)
		}
	}
}

// Err implements [ledger.Ledger].
func (l *Log) Err() error {
	if l.isClosing() {
		return errClosed
	}
	return l.health.err()
}

// Close implements [ledger.Ledger]. It waits for a commit in progress, but not for ever: one that waits for a standby that is gone is ended, and
// its outcome is unknown.
func (l *Log) Close() error {
	l.closed.Do(func() {
		close(l.closing)
		l.queue.close()
		patience := time.AfterFunc(closeTimeout, l.end)
		<-l.finished
		patience.Stop()
		l.end()
		l.running.Wait()
		l.readers.Close()
	})
	return nil
}

func (l *Log) isClosing() bool {
	select {
	case <-l.closing:
		return true
	default:
		return false
	}
}

// pauseFor waits before the next round, unless the log is being closed.
func (l *Log) pauseFor(d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-l.closing:
	}
}
