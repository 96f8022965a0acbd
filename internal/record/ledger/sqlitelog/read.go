package sqlitelog

import (
	"context"
	"errors"
	"fmt"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

const (
	// It does not begin in the page of the last entry that was read, which may be damaged after it.
	readQuery   = "SELECT position, bytes, stream FROM entries WHERE position >= ? + 1 ORDER BY position LIMIT ? | 0"
	streamQuery = `SELECT e.position, e.bytes FROM streams AS s CROSS JOIN entries AS e ON e.stream = s.id
		WHERE s.name = ? AND e.position > ? ORDER BY e.position LIMIT ? | 0`
)

// reader is a connection for reading the tables of the ledger.
type reader struct {
	conn         *sqlconn.Conn
	read, stream *sqlconn.Stmt
}

func openReader(path string) (*reader, error) { return openFor(readerDSN(path)) }

// Stream implements [ledger.Ledger].
func (l *Log) Stream(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	if err := checkLimit(limit); err != nil {
		return nil, err
	}
	// A writer with a cached fold reads what is new: mostly nothing.
	if h, ok := l.heads.Get(s); ok && h.Position <= after && !l.isClosing() {
		return nil, ctx.Err()
	}
	if err := ledger.CheckStream(s); err != nil {
		return nil, err
	}
	return l.withReader(ctx, func(r *reader) ([]ledger.Entry, error) {
		return collect(r.stream, chain{stream: s, last: after, sealer: l.opts.Sealer, segments: l.opts.Segments}, string(s), after, limit)
	})
}

// Read implements [ledger.Ledger]. It does not lag.
func (l *Log) Read(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	if err := checkLimit(limit); err != nil {
		return nil, err
	}
	return l.withReader(ctx, func(r *reader) ([]ledger.Entry, error) { return l.readAfter(r.read, after, limit) })
}

// Follow implements [ledger.Ledger].
func (l *Log) Follow(ctx context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.isClosing() {
			return errClosed
		}
		entries, behind, changed := l.tail.After(after, followBatch)
		if behind {
			var err error
			if entries, err = l.Read(ctx, after, followBatch); err != nil {
				if len(entries) == 0 {
					return err
				}
				// Those before a damaged entry come first; the next read finds it again.
			}
		}
		if len(entries) > 0 {
			if err := fn(entries); err != nil {
				return err
			}
			after = entries[len(entries)-1].Position
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-l.closing:
		}
	}
}

// withReader runs fn on one of the reading connections.
func (l *Log) withReader(ctx context.Context, fn func(*reader) ([]ledger.Entry, error)) ([]ledger.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.isClosing() {
		return nil, errClosed
	}
	select {
	case r := <-l.readers:
		defer func() { l.readers <- r }()
		return fn(r)
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.closing:
		return nil, errClosed
	}
}

func (l *Log) readAfter(stmt *sqlconn.Stmt, after ledger.Position, limit int) ([]ledger.Entry, error) {
	return collect(stmt, chain{last: after, sealer: l.opts.Sealer, segments: l.opts.Segments}, after, limit)
}

// collect runs a query for positions and bytes.
func collect(stmt *sqlconn.Stmt, c chain, args ...any) ([]ledger.Entry, error) {
	var entries []ledger.Entry
	err := stmt.Query(func(row sqlconn.Row) error {
		at := position(row, 0)
		s, err := frame.Open(row.Blob(1), at)
		if err := c.missing(at, s); err != nil {
			return err
		}
		if err == nil && s.Segment != "" {
			s.Bytes, err = c.fetch(at, s)
			if _, away := ledger.AsPutAway(err); away {
				return err
			}
		}
		e, err := c.decode(at, s.Bytes, err)
		if err != nil {
			return err
		}
		if c.indexed != nil {
			if err := c.indexed(e.Stream, row.Int64(2)); err != nil {
				return &ledger.Damaged{Position: at, Err: err}
			}
		}
		entries = append(entries, e)
		return nil
	}, args...)
	if code(err) == codeCorrupt && c.stream == "" { // the page of the next entry is damaged
		if _, known := errors.AsType[*ledger.Damaged](err); !known {
			err = &ledger.Damaged{Position: c.last + 1, Err: err}
		}
	}
	return entries, err
}

// decode returns the entry whose bytes were read at a position, with what was wrong with them.
func (c *chain) decode(at ledger.Position, b []byte, err error) (e ledger.Entry, _ error) {
	if err == nil {
		e, err = ledger.Decode(b)
	}
	if err == nil && c.stream != "" && e.Stream != c.stream {
		err = fmt.Errorf("%w: it belongs to the stream %s, not %s", ledger.ErrInvalid, e.Stream, c.stream)
	}
	if err == nil && c.sealer != nil && e.Enc == ledger.EncSealed {
		e, err = c.sealer.Open(e)
	}
	if err != nil {
		return e, &ledger.Damaged{Position: at, Err: err}
	}
	e.Position = at
	return e, nil
}

// chain is what a read knows of the entries before the next one, so that it notices those that are missing.
type chain struct {
	stream ledger.Stream   // empty: of all streams, whose positions have no gaps
	last   ledger.Position // that was read, or after which the read began
	// indexed returns an error if an entry of a stream is not in the stream that has a number; nil: it is not asked.
	indexed func(ledger.Stream, int64) error
	sealer  ledger.Sealer // opens what is sealed; nil: its outline is read
	sum     *frame.Stored // of the last entry that was scanned; nil: it is missing
	// segments have what was put away; nil: none are attached.
	segments Segments
}

var errMissing = fmt.Errorf("%w: it is missing", ledger.ErrInvalid)

// missing returns an error that names an entry between the last one and the one that was frame.Stored at a position.
func (c *chain) missing(at ledger.Position, s frame.Stored) error {
	last := c.last
	c.last = at
	switch {
	case c.stream == "" && at != last+1:
		return &ledger.Damaged{Position: last + 1, Err: errMissing}
	case c.stream != "" && s.Placed && s.Previous > last:
		return &ledger.Damaged{Position: s.Previous, Err: errMissing}
	}
	return nil
}

func position(row sqlconn.Row, column int) ledger.Position {
	return ledger.Position(row.Int64(column)) //nolint:gosec // never negative
}

func checkLimit(limit int) error {
	if limit < 1 {
		return fmt.Errorf("%w: limit %d, want 1 or more", ledger.ErrInvalid, limit)
	}
	return nil
}
