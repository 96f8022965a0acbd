package pglog

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// writer owns the connection that writes. All its methods run on one goroutine.
type writer struct {
	log    *Log
	config *pgx.ConnConfig
	conn   *pgx.Conn   // nil: there is none
	warned atomic.Bool // the server has sent a warning
}

func newWriter(l *Log, c *pgx.ConnConfig) *writer {
	w := &writer{log: l, config: c.Copy()}
	// A transaction whose front end has stopped must not keep the lock. How long one waits for the lock is our own decision.
	w.config.ValidateConnect = begin(fmt.Sprintf("SET idle_in_transaction_session_timeout = %d; SET statement_timeout = 0; SET lock_timeout = 0; ", idleInTransaction.Milliseconds()))
	w.config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			w.warned.Store(true)
		}
	}
	return w
}

// run serves the queue until it is closed and empty.
func (w *writer) run(ctx context.Context) {
	defer close(w.log.finished)
	defer w.drop()
	for {
		batch := w.log.queue.take(w.log.opts.MaxBatch)
		if len(batch) == 0 {
			return
		}
		if err := w.append(ctx, batch); err != nil {
			for _, r := range batch {
				r.position, r.err = 0, err
			}
		}
		for _, r := range batch {
			close(r.done)
		}
	}
}

// append commits the requests that pass their check; the others get an error of their own. An error that it returns is the answer to all.
func (w *writer) append(ctx context.Context, batch []*request) error {
	had := w.conn != nil
	p, err := w.plan(ctx, batch)
	if err != nil && had && !isRefusal(err) && !errors.Is(err, context.DeadlineExceeded) {
		p, err = w.plan(ctx, batch) // the connection may have ended while nobody used it; nothing was written
	}
	if err != nil {
		w.log.health.failed(err)
		return unavailable(err)
	}
	if len(p.positions) == 0 {
		if _, err := w.conn.Exec(ctx, "ROLLBACK"); err != nil {
			w.drop()
		}
		return nil
	}
	w.log.own.add(batch)
	err = w.commit(ctx, p)
	if err != nil {
		w.drop()
	}
	w.log.health.failed(err)
	return err
}

// plan begins a transaction, locks the record, and decides which requests are committed. After an error there is no connection.
func (w *writer) plan(ctx context.Context, batch []*request) (*plan, error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	if err := w.connect(ctx); err != nil {
		return nil, err
	}
	reached := w.log.health.reachedUntil()
	end, heads, err := w.lock(ctx, batch)
	if err == nil {
		err = w.log.health.check(&end, reached)
	}
	if err != nil {
		w.drop()
		return nil, err
	}
	p := &plan{last: end.last, heads: heads}
	for _, r := range batch {
		if r.abandoned.Load() {
			r.err = unknown(errAbandoned)
		} else {
			r.position, r.err = p.add(r)
		}
	}
	return p, nil
}

// connect makes the connection that writes, if there is none.
func (w *writer) connect(ctx context.Context) error {
	if w.conn != nil {
		return nil
	}
	conn, err := connect(ctx, w.config)
	w.conn = conn
	return err
}

// drop closes the connection. A transaction in progress ends without effect, unless its commit was sent.
func (w *writer) drop() {
	if w.conn != nil {
		hangUp(w.conn)
		w.conn = nil
	}
}

// lock begins a transaction, locks the record against other front ends, and reads where it ends, and where the streams of a batch do.
func (w *writer) lock(ctx context.Context, batch []*request) (end status, heads map[ledger.Stream]head, err error) {
	timed := map[ledger.Stream]bool{}
	for _, r := range batch {
		timed[r.entry.Stream] = timed[r.entry.Stream] || r.expect == ledger.Any
	}
	streams, times := make([]string, 0, len(timed)), make([]bool, 0, len(timed))
	for s, t := range timed {
		streams, times = append(streams, string(s)), append(times, t)
	}
	b := &pgx.Batch{}
	b.Queue("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
	b.Queue(w.log.queries.lock)
	b.Queue(w.log.queries.last)
	b.Queue(w.log.queries.heads, streams, times)
	results := w.conn.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, results.Close()) }()
	if _, err := results.Exec(); err != nil {
		return end, nil, err
	}
	if err := end.scan(results.QueryRow()); err != nil {
		return end, nil, err
	}
	var last ledger.Position
	if err := results.QueryRow().Scan(&last); err != nil {
		return end, nil, err
	}
	if last != end.last {
		return end, nil, fmt.Errorf("the record should end at %d, and its last entry is %d: entries were removed or added by another program; restore it from a backup", end.last, last)
	}
	rows, err := results.Query()
	if err != nil {
		return end, nil, err
	}
	heads, err = readHeads(rows)
	return end, heads, err
}

// commit writes what was planned. Its errors are answers of Append: they say whether anything was written.
func (w *writer) commit(ctx context.Context, p *plan) error {
	start := time.Now()
	w.warned.Store(false)
	w.log.health.commits(start)
	defer w.log.health.commits(time.Time{})
	b := &pgx.Batch{}
	b.Queue(w.log.queries.insert, p.positions, p.streams, p.previous, p.frames)
	b.Queue(w.log.queries.move, p.last)
	b.Queue("COMMIT")
	results := w.conn.SendBatch(ctx, b) // no time limit: what is cut short is committed all the same, without its standby
	for range 2 {
		if _, err := results.Exec(); err != nil {
			if _ = results.Close(); isRefusal(err) {
				return unavailable(err)
			}
			return unknown(err)
		}
	}
	tag, err := results.Exec()
	if err = errors.Join(err, results.Close()); err != nil {
		return unknown(err)
	}
	if tag.String() != "COMMIT" {
		return unavailable(fmt.Errorf("the commit was answered with %s", tag))
	}
	if w.warned.Load() { // the wait for a standby was cancelled
		return unknown(errors.New("the server has committed with a warning: see its log"))
	}
	w.log.health.reached(p.last)
	w.log.opts.Committed(len(p.positions), time.Since(start))
	return nil
}
