package sqlitelog

import (
	"context"
	"errors"
	"fmt"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// Segments are files with entries that were put away. Its methods are safe for many goroutines.
type Segments interface {
	// Entry returns the bytes of the entry at a position, which must not be changed, from the segment with a name; nil: the segment is not attached.
	Entry(segment string, at ledger.Position) ([]byte, error)
}

// fetch returns the bytes of an entry that was put away, which must have its leaf.
func (c *chain) fetch(at ledger.Position, s frame.Stored) (b []byte, err error) {
	if c.segments != nil {
		b, err = c.segments.Entry(s.Segment, at)
	}
	switch {
	case err != nil:
		return nil, err
	case b == nil:
		return nil, &ledger.PutAway{Position: at, Segment: s.Segment, Leaf: s.Leaf}
	case frame.Leaf(b) != s.Leaf:
		return nil, fmt.Errorf("%w: the segment %s has another entry", ledger.ErrInvalid, s.Segment)
	}
	return b, nil
}

// putAwayAtOnce is how many entries are put away in one transaction, for which appends wait.
const putAwayAtOnce = 500

// PutAway replaces the bytes of entries that are in a segment, of which the caller knows that it is on the disk and whole, by a note that says so. The entries keep
// their positions and their places in their streams. It may be repeated, after a crash for example. It returns how many it put away. The space becomes free with
// [Log.Scrub].
func (l *Log) PutAway(ctx context.Context, segment string, list []ledger.Position) (n int, err error) {
	for len(list) > 0 {
		some := list[:min(len(list), putAwayAtOnce)]
		var own error
		err := l.do(ctx, func(w *writer) error {
			return w.transaction(func() (bool, error) {
				for _, at := range some {
					done, err := w.putAway(segment, at)
					if err != nil {
						own = err
						return false, nil //nolint:nilerr // it is the caller's
					}
					if done {
						n++
					}
				}
				return true, nil
			})
		})
		if err := errors.Join(err, own); err != nil {
			return n, err
		}
		list = list[len(some):]
	}
	return n, nil
}

// putAway replaces one entry; false: it was put away before, or is in a frame of an older format, in which it stays.
func (w *writer) putAway(segment string, at ledger.Position) (done bool, err error) {
	var b []byte
	err = w.conn.Query(func(row sqlconn.Row) (err error) {
		b, done, err = frame.PutAway(row.Blob(0), at, segment)
		return err
	}, "SELECT bytes FROM entries WHERE position = ?", at)
	if err != nil || !done {
		return false, err
	}
	return true, w.conn.Exec("UPDATE entries SET bytes = ? WHERE position = ?", b, at)
}
