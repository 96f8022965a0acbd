package sqlitelog

import (
	"fmt"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/indexsum"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

const (
	entryRows  = "SELECT stream, position FROM entries INDEXED BY entries_by_stream ORDER BY stream, position"
	streamRows = "SELECT name, id FROM streams"
)

// sumIndex returns the sums over all rows, and over those that there were when an entry was the last. Error: *IndexError for a row that no entry has.
func sumIndex(c *sqlconn.Conn, at ledger.Position) (all, then indexsum.Sum, err error) {
	var newest int64 // stream of the entries up to at
	streams, last := 0, int64(-1)
	err = c.Query(func(row sqlconn.Row) error {
		stream, p := row.Int64(0), position(row, 1)
		if n := row.Int64(1); n < 1 {
			return &IndexError{Below: &n}
		}
		if stream != last {
			streams, last = streams+1, stream
		}
		all.AddEntry(stream, p)
		if p <= at {
			then.AddEntry(stream, p)
			newest = max(newest, stream)
		}
		return nil
	}, entryRows)
	if err != nil {
		return 0, 0, err
	}
	err = c.Query(func(row sqlconn.Row) error {
		name, id := row.Text(0), row.Int64(1)
		streams--
		all.AddStream(name, id)
		if id <= newest {
			then.AddStream(name, id)
		}
		return nil
	}, streamRows)
	if err == nil && streams < 0 { // one without an entry
		err = &IndexError{}
	}
	return all, then, err
}

// IndexError is the error of a file whose index of streams is not that of its entries.
type IndexError struct {
	// At is the first entry that the index has in another stream than its own, or in none; 0 if there is none, and the index has more than the entries.
	At     ledger.Position
	Stream ledger.Stream // of the entry
	Below  *int64        // a place before the first one at which the entries have a row; nil: there is none
}

func (e *IndexError) Error() string {
	if e.Below != nil {
		return fmt.Sprintf("the entries have a row at position %d, and positions begin at 1", *e.Below)
	}
	if e.At == 0 {
		return "the index of streams has a row that no entry has"
	}
	return fmt.Sprintf("position %d: %s", e.At, e.what())
}

func (e *IndexError) what() string {
	return fmt.Sprintf("the index of streams does not have this entry of %s, or has it elsewhere", e.Stream)
}

// Place returns the position of the entry, 0 for none, and what is wrong with it.
func (e *IndexError) Place() (ledger.Position, string) {
	if e.At == 0 {
		return 0, e.Error()
	}
	return e.At, e.what()
}

// Is reports that the error is one of [ledger.ErrInvalid].
func (e *IndexError) Is(target error) bool { return target == ledger.ErrInvalid }

// checkIndex compares the index of streams with the sum in the newest frame that can be read, and returns the sum over all rows. A file whose
// newest entry has an older framing has nothing to compare with. Error: *IndexError.
func checkIndex(c *sqlconn.Conn, last ledger.Position) (indexsum.Sum, error) {
	at, want, ok, err := newestSum(c, last)
	if err != nil {
		return 0, err
	}
	all, then, err := sumIndex(c, at)
	if err != nil {
		return 0, err
	}
	if ok && then != want {
		if err := findUnindexed(c); err != nil {
			return 0, err
		}
		return 0, &IndexError{}
	}
	return all, nil
}

// newestSum returns the sum in the newest frame that can be read; false if that has none.
func newestSum(c *sqlconn.Conn, last ledger.Position) (at ledger.Position, sum indexsum.Sum, ok bool, err error) {
	for at = last; at > 0; at-- {
		var s frame.Stored
		damaged, found := error(nil), false
		err := c.Query(func(row sqlconn.Row) error {
			at, found = position(row, 0), true
			s, damaged = frame.Open(row.Blob(1), at)
			return nil
		}, "SELECT position, bytes FROM entries WHERE position <= ? ORDER BY position DESC LIMIT 1", at)
		if err != nil || !found {
			return 0, 0, false, err
		}
		if damaged == nil {
			return at, indexsum.Sum(s.Index), s.Indexed, nil
		}
	}
	return 0, 0, false, nil
}

// findUnindexed returns an *IndexError for the first entry that the index of streams does not have in its stream; nil if there is none.
func findUnindexed(c *sqlconn.Conn) error {
	find, err := c.Prepare("SELECT count(*) FROM streams AS s JOIN entries AS e INDEXED BY entries_by_stream ON e.stream = s.id WHERE s.name = ? AND e.position = ?")
	if err != nil {
		return err
	}
	return c.Query(func(row sqlconn.Row) error {
		at := position(row, 0)
		s, err := frame.Open(row.Blob(1), at)
		if err != nil {
			return nil //nolint:nilerr // damage of the entry itself is found when it is read
		}
		e, err := ledger.Decode(s.Bytes)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		n := int64(0)
		if err := find.Query(func(row sqlconn.Row) error { n = row.Int64(0); return nil }, string(e.Stream), at); err != nil {
			return err
		}
		if n != 1 {
			return &IndexError{At: at, Stream: e.Stream}
		}
		return nil
	}, "SELECT position, bytes FROM entries ORDER BY position")
}
