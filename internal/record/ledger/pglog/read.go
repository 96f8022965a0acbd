package pglog

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
	"github.com/trapezehq/trapeze/internal/record/ledger/tail"
)

// Stream implements [ledger.Ledger].
func (l *Log) Stream(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	if err := checkLimit(limit); err != nil {
		return nil, err
	}
	if err := ledger.CheckStream(s); err != nil {
		return nil, err
	}
	var entries []ledger.Entry
	err := l.query(ctx, func(c *pgxpool.Conn) error {
		rows, err := c.Query(ctx, l.queries.stream, string(s), number(after), limit)
		if err != nil {
			return err
		}
		entries, _, err = collect(rows, chain{stream: s, last: after})
		return err
	})
	return entries, err
}

// Read implements [ledger.Ledger]. It does not lag.
func (l *Log) Read(ctx context.Context, after ledger.Position, limit int) (entries []ledger.Entry, err error) {
	if err := checkLimit(limit); err != nil {
		return nil, err
	}
	err = l.query(ctx, func(c *pgxpool.Conn) error {
		_, entries, _, err = readAfter(ctx, c, &l.queries, chain{last: after}, limit)
		return err
	})
	return entries, err
}

// batcher is a connection, or one of a pool.
type batcher interface {
	SendBatch(context.Context, *pgx.Batch) pgx.BatchResults
}

// readAfter reads the state of the record, and the entries of all streams after those of a chain, with their size in bytes as they are stored.
func readAfter(ctx context.Context, c batcher, q *queries, known chain, limit int) (end status, entries []ledger.Entry, size int, err error) {
	after := known.last
	b := &pgx.Batch{}
	b.Queue(q.status)
	b.Queue(q.read, number(after), limit)
	results := c.SendBatch(ctx, b)
	defer func() {
		if closeErr := results.Close(); err == nil {
			err = closeErr
		}
	}()
	if err := end.scan(results.QueryRow()); err != nil {
		return end, nil, 0, err
	}
	rows, err := results.Query()
	if err != nil {
		return end, nil, 0, err
	}
	entries, size, err = collect(rows, known)
	if err != nil {
		return end, entries, size, err
	}
	if len(entries) > 0 {
		after = entries[len(entries)-1].Position
	}
	if len(entries) < limit && after < end.last { // the state was read before the entries
		err = &ledger.Damaged{Position: after + 1, Err: errMissing}
	}
	return end, entries, size, err
}

// collect decodes and verifies entries. Those before a damaged one come with the error.
func collect(rows pgx.Rows, c chain) (entries []ledger.Entry, size int, err error) {
	defer rows.Close()
	var position, previous int64 // the types of this package are scanned by reflection
	var stream string
	var stored pgtype.DriverBytes
	for rows.Next() {
		if err := rows.Scan(&position, &stream, &previous, &stored); err != nil {
			return entries, size, err
		}
		r := row{ledger.Position(position), ledger.Stream(stream), ledger.Position(previous), stored} //nolint:gosec // never negative
		e, err := c.next(&r)
		if err != nil {
			return entries, size, err
		}
		entries, size = append(entries, e), size+len(r.frame)
	}
	return entries, size, rows.Err()
}

// row is a row of the table of entries.
type row struct {
	position ledger.Position
	stream   ledger.Stream
	previous ledger.Position
	frame    []byte // only until the next row is read
}

// chain is what a read knows of the entries before the next one, so that it notices those that are missing.
type chain struct {
	stream ledger.Stream   // empty: of all streams, whose positions have no gaps
	last   ledger.Position // that was read, or after which the read began
	own    *own            // nil: each entry is decoded
}

var errMissing = fmt.Errorf("%w: it is missing", ledger.ErrInvalid)

// next returns the entry of the next row. Its error is a [ledger.Damaged].
func (c *chain) next(r *row) (ledger.Entry, error) {
	if e, ok := c.own.take(r); ok && r.position == c.last+1 {
		c.last = r.position
		return e, nil
	}
	s, err := frame.Open(bytes.Clone(r.frame), r.position)
	last := c.last
	c.last = r.position
	switch {
	case c.stream == "" && r.position != last+1:
		return ledger.Entry{}, &ledger.Damaged{Position: last + 1, Err: errMissing}
	case c.stream != "" && err == nil && s.Previous > last:
		return ledger.Entry{}, &ledger.Damaged{Position: s.Previous, Err: errMissing}
	}
	var e ledger.Entry
	if err == nil {
		e, err = ledger.Decode(s.Bytes)
	}
	switch {
	case err != nil:
	case !s.Indexed:
		err = fmt.Errorf("%w: it is not stored as a frame of this ledger", ledger.ErrInvalid)
	case e.Stream != r.stream || c.stream != "" && e.Stream != c.stream:
		err = fmt.Errorf("%w: it belongs to the stream %s, and the table has it in another", ledger.ErrInvalid, e.Stream)
	case s.Previous != r.previous:
		err = fmt.Errorf("%w: it follows %d in its stream, and the table says %d", ledger.ErrInvalid, s.Previous, r.previous)
	}
	if err != nil {
		return ledger.Entry{}, &ledger.Damaged{Position: r.position, Err: err}
	}
	e.Position = r.position
	return e, nil
}

// Follow implements [ledger.Ledger]. It goes on after the connection to the database was lost.
func (l *Log) Follow(ctx context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	return l.tail.Follow(ctx, after, tail.Source{Read: l.Read, Closing: l.closing, Closed: errClosed, Batch: followBatch, Retry: retryAfter}, fn)
}

// number is a position as a number of PostgreSQL, which has none beyond 2⁶³-1.
func number(p ledger.Position) int64 { return int64(min(p, math.MaxInt64)) } //nolint:gosec // checked

func checkLimit(limit int) error {
	if limit < 1 {
		return fmt.Errorf("%w: limit %d, want 1 or more", ledger.ErrInvalid, limit)
	}
	return nil
}
