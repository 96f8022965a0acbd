package pglog

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/pace"
)

// listen reads what any front end commits until the log is closed, over as many connections as that takes.
func (l *Log) listen(ctx context.Context) {
	for {
		err := l.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		l.health.failed(err)
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
		}
	}
}

// listenOnce does so on one connection.
func (l *Log) listenOnce(ctx context.Context) error {
	conn, err := connect(ctx, l.config)
	if err != nil {
		return err
	}
	defer hangUp(conn)
	if !l.opts.deaf {
		// Where notifications do not exist the end of the record is looked up.
		if _, err := conn.Exec(ctx, "LISTEN "+channel(l.opts.Schema)); err != nil && !isRefusal(err) {
			return err
		}
	}
	for {
		before := l.tail.Position()
		if err := l.catchUp(ctx, conn); err != nil {
			return err
		}
		l.pauseFor(pace.After(int(l.tail.Position() - before))) //nolint:gosec // a count of entries
		if err := l.await(ctx, conn); err != nil {
			return err
		}
	}
}

// catchUp checks the state of the record, and hands the entries that are new to the followers.
func (l *Log) catchUp(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	reached := l.health.reachedUntil()
	var end status
	if err := end.scan(conn.QueryRow(ctx, l.queries.status)); err != nil {
		return err
	}
	if err := l.health.check(&end, reached); err != nil {
		return err
	}
	l.health.reached(end.last)
	if l.health.hasFailed() { // reading does not show that it can write again
		if _, err := conn.Exec(ctx, l.queries.probe); err != nil {
			return err
		}
		l.health.failed(nil)
	}
	for l.tail.Position() < end.last {
		entries, size, err := readAfter(ctx, conn, &l.queries, chain{last: l.tail.Position(), own: &l.own}, listenBatch)
		if len(entries) > 0 {
			for i := range entries {
				l.opts.Prepare(&entries[i])
			}
			l.tail.Add(entries, size)
		}
		if _, damaged := errors.AsType[*ledger.Damaged](err); damaged {
			l.tail.Skip(end.last) // followers find it when they read
		} else if err != nil {
			return err
		}
	}
	return nil
}

// await returns after a notification, or when the end of the record is to be looked up.
func (l *Log) await(ctx context.Context, conn *pgx.Conn) error {
	wait, cancel := context.WithTimeout(ctx, l.opts.Poll)
	defer cancel()
	_, err := conn.WaitForNotification(wait)
	if err != nil && (conn.IsClosed() || !pgconn.Timeout(err) && !errors.Is(err, context.DeadlineExceeded)) {
		return err
	}
	passed, end := context.WithCancel(ctx)
	for end(); err == nil; { // one look is for all that have come
		_, err = conn.WaitForNotification(passed)
	}
	return nil
}
