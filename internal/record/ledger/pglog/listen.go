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
	for hears, busy := false, false; ; {
		if hears == busy && !l.opts.deaf {
			if err := l.hear(ctx, conn, !busy); err != nil {
				return err
			}
			hears = !busy
		}
		before := l.tail.Position()
		if err := l.catchUp(ctx, conn); err != nil {
			return err
		}
		found := int(l.tail.Position() - before) //nolint:gosec // a count of entries
		l.pauseFor(pace.After(found))
		if busy = found >= busyRound || busy && found >= fewRound; busy || !hears && !l.opts.deaf {
			continue
		}
		if err := l.await(ctx, conn); err != nil {
			return err
		}
	}
}

// hear has PostgreSQL send notifications, or no more of them: each commit wakes those who hear, and a busy listener looks often enough by itself.
func (l *Log) hear(ctx context.Context, conn *pgx.Conn, on bool) error {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	statement := "UNLISTEN "
	if on {
		statement = "LISTEN "
	}
	_, err := conn.Exec(ctx, statement+channel(l.opts.Schema))
	if isRefusal(err) { // where notifications do not exist the end of the record is looked up
		return nil
	}
	return err
}

// catchUp checks the state of the record, and hands the entries that are new to the followers.
func (l *Log) catchUp(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	for more := true; more; {
		reached := l.health.reachedUntil()
		end, entries, size, err := readAfter(ctx, conn, &l.queries, chain{last: l.tail.Position(), own: &l.own}, listenBatch)
		_, damaged := errors.AsType[*ledger.Damaged](err)
		if err != nil && !damaged {
			return err
		}
		if err := l.check(ctx, conn, &end, reached); err != nil {
			return err
		}
		if len(entries) > 0 {
			for i := range entries {
				l.opts.Prepare(&entries[i])
			}
			l.tail.Add(entries, size)
		}
		if damaged {
			l.tail.Skip(end.last) // followers find it when they read
		}
		more = len(entries) == listenBatch
	}
	return nil
}

// check looks whether a state of the record is as it should be, and after a failure whether the record can be written again.
func (l *Log) check(ctx context.Context, conn *pgx.Conn, end *status, reached ledger.Position) error {
	if err := l.health.check(end, reached); err != nil {
		return err
	}
	l.health.reached(end.last)
	if !l.health.hasFailed() { // reading does not show that it can write
		return nil
	}
	_, err := conn.Exec(ctx, l.queries.probe)
	if err == nil {
		l.health.failed(nil)
	}
	return err
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
