package sqlitelog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/indexsum"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// How much a scan reads at a time.
const (
	scanRows  = 512
	scanBytes = 256 << 10
)

// stored is a row of the entries that was read and not decoded.
type stored struct {
	at     ledger.Position
	stream int64
	before ledger.Position // the entry before it in its stream; 0: none
	frame  []byte
	away   bool // what the frame stands for was put away:
	of     frame.Stored
	err    error
}

// Scan reads what is stored after a position, as [Reader.Read] does, and leaves it to a function to decode it, which is safe on another goroutine. It returns the position of
// the last entry, 0 for none. Errors: those of the file.
func (r *Reader) Scan(ctx context.Context, after ledger.Position) (last ledger.Position, decode func() []ledger.Scanned, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	c := chain{last: after, indexed: r.indexed, sealer: r.sealer, segments: r.segments}
	rows, size := make([]stored, 0, scanRows), 0
	if before := r.heads.begin(after); before != nil {
		rows = append(rows, *before) // it was returned before
	}
	given := len(rows)
	err = r.file.read.Query(func(row sqlconn.Row) (err error) {
		s := stored{at: position(row, 0), frame: row.Blob(1), stream: row.Int64(2)}
		if s.before, err = r.heads.next(r.file.conn, s.stream, s.at); err != nil {
			return err
		}
		if size += len(s.frame); frame.IsNote(s.frame) { // a segment is read in its order
			s.away = true
			if s.of, s.err = frame.Open(s.frame, s.at); s.err == nil {
				s.of.Bytes, s.err = c.fetch(s.at, s.of)
			}
			size += len(s.of.Bytes)
		}
		rows = append(rows, s)
		if size >= scanBytes {
			return io.EOF
		}
		return nil
	}, after, scanRows)
	for i := range rows { // of a damaged page they come in another order
		last = max(last, rows[i].at)
	}
	if last <= after {
		last = 0
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	r.heads.end(last, rows)
	return last, func() []ledger.Scanned { return c.scanned(rows[:given], rows[given:]) }, ReadError(err)
}

// scanned decodes what was read, after the last row that was read before, if it is known.
func (c *chain) scanned(before, rows []stored) []ledger.Scanned {
	out := make([]ledger.Scanned, 0, len(rows))
	if c.last == 0 { // the sum over nothing
		c.sum = &frame.Stored{Indexed: true}
	}
	for i := range before {
		if before[i].open(); before[i].err == nil {
			c.sum = &before[i].of
		}
	}
	for i := range rows {
		row := &rows[i]
		if row.at <= c.last || row.at > math.MaxInt64 { // SQLite reads another position, of a damaged page, and the own one is missing
			continue
		}
		for last := c.last + 1; last < row.at; last++ {
			c.sum = nil
			out = append(out, ledger.Scanned{Err: &ledger.Damaged{Position: last, Err: errMissing}})
			if len(out) > 2*scanRows { // of so many nobody lists the rest
				break
			}
		}
		c.last = row.at
		out = append(out, c.scannedRow(row))
	}
	return out
}

// open opens the frame, unless that was done.
func (s *stored) open() {
	if !s.away {
		s.of, s.err = frame.Open(s.frame, s.at)
	}
}

func (c *chain) scannedRow(row *stored) (s ledger.Scanned) {
	row.open()
	if _, away := ledger.AsPutAway(row.err); away {
		s.Err, s.Misplaced = row.err, !c.placed(row, "")
		return s
	}
	s.Entry, s.Err = c.decode(row.at, row.of.Bytes, row.err)
	s.Misplaced = !c.placed(row, s.Entry.Stream)
	if s.Err == nil {
		if err := c.indexed(s.Entry.Stream, row.stream); err != nil {
			s.Err = &ledger.Damaged{Position: row.at, Err: err}
		}
	}
	s.Stored, s.Err = row.of.Bytes, ReadError(s.Err)
	return s
}

// placed reports whether the frame of an entry has the entry before it in its stream, and the sum over the index, to which the rows before it lead. It says
// nothing of a frame that cannot be opened. stream is empty if it is not known.
func (c *chain) placed(row *stored, stream ledger.Stream) bool {
	of, last := &row.of, c.sum
	c.sum = of
	if !of.Placed {
		return true
	}
	if of.Previous != row.before {
		return false
	}
	if last == nil || !last.Indexed || !of.Indexed || row.before == 0 && stream == "" {
		return true
	}
	sum := indexsum.Sum(last.Index)
	if row.before == 0 {
		sum.AddStream(string(stream), row.stream)
	}
	sum.AddEntry(row.stream, row.at)
	return uint64(sum) == of.Index
}

// heads are the last entries of streams, as far as a scan has come.
type heads struct {
	first, after ledger.Position // after which it began, and to which it came
	of           map[int64]ledger.Position
	newest       []stored // the last row; none at the beginning
}

// begin is called before rows are read after a position. It returns the row before them, if it is known.
func (h *heads) begin(after ledger.Position) *stored {
	if h.of == nil || after != h.after {
		*h = heads{first: after, after: after, of: map[int64]ledger.Position{}}
	}
	if len(h.newest) == 0 {
		return nil
	}
	return &h.newest[0]
}

// next returns the entry before another one in its stream, 0 for none.
func (h *heads) next(c *sqlconn.Conn, stream int64, at ledger.Position) (before ledger.Position, err error) {
	before, known := h.of[stream]
	if h.of[stream] = at; known || h.first == 0 {
		return before, nil
	}
	n, err := c.Number("SELECT max(position) FROM entries WHERE stream = ? AND position <= ?", stream, h.first)
	return ledger.Position(n), err //nolint:gosec // never negative
}

// end is called with the rows that were read, and those before.
func (h *heads) end(last ledger.Position, rows []stored) {
	if h.after, h.newest = last, nil; len(rows) > 0 {
		h.newest = slices.Clone(rows[len(rows)-1:])
	}
}

// numbers are the numbers of streams, by the index.
type numbers struct {
	mu   sync.Mutex
	conn *sqlconn.Conn // of its own
	find *sqlconn.Stmt
	of   map[ledger.Stream]int64
}

const (
	maxNumbers = 1 << 16 // that are remembered
	// streamsAhead is how many are read at a time: those of tasks follow each other in the order in which they were made.
	streamsAhead = 64
)

// indexed returns an error if the index has an entry in another stream than its own. It is safe for many goroutines.
func (r *Reader) indexed(s ledger.Stream, number int64) error {
	n := &r.numbers
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.find == nil {
		if err := n.open(r.name); err != nil {
			return err
		}
	}
	own, ok := n.of[s]
	if !ok {
		if err := n.ahead(s); err != nil {
			return err
		}
		own = n.of[s]
	}
	if own != number {
		return fmt.Errorf("%w: the index of streams does not have it in its stream, %s", ledger.ErrInvalid, s)
	}
	return nil
}

func (n *numbers) open(name string) (err error) {
	if n.conn == nil {
		if n.conn, err = sqlconn.Open(name); err != nil {
			return ofMachine{err} // the file was opened before
		}
	}
	n.find, err = n.conn.Prepare("SELECT name, id FROM streams WHERE name >= ? ORDER BY name LIMIT ? | 0")
	return err
}

// ahead reads the number of a stream, 0 if it has none, and those of the streams after it.
func (n *numbers) ahead(s ledger.Stream) error {
	if n.of == nil || len(n.of)+streamsAhead > maxNumbers {
		n.of = make(map[ledger.Stream]int64, maxNumbers)
	}
	n.of[s] = 0
	return n.find.Query(func(row sqlconn.Row) error { n.of[ledger.Stream(row.Text(0))] = row.Int64(1); return nil }, string(s), streamsAhead)
}

func (n *numbers) close() error {
	if n.conn == nil {
		return nil
	}
	return n.conn.Close()
}
