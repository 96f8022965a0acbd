package sqlitelog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
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
	frame  []byte
	away   bool // what the frame stands for was put away:
	bytes  []byte
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
	err = r.file.read.Query(func(row Row) error {
		s := stored{at: position(row, 0), frame: row.Blob(1), stream: row.Int64(2)}
		if size += len(s.frame); frame.IsNote(s.frame) { // a segment is read in its order
			s.away = true
			of, err := frame.Open(s.frame, s.at)
			if err == nil {
				of.Bytes, err = c.fetch(s.at, of)
			}
			s.bytes, s.err = of.Bytes, err
			size += len(s.bytes)
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
	return last, func() []ledger.Scanned { return c.scanned(rows) }, ReadError(err)
}

// scanned decodes what was read.
func (c *chain) scanned(rows []stored) []ledger.Scanned {
	out := make([]ledger.Scanned, 0, len(rows))
	for i := range rows {
		row := &rows[i]
		if row.at <= c.last || row.at > math.MaxInt64 { // SQLite reads another position, of a damaged page, and the own one is missing
			continue
		}
		for last := c.last + 1; last < row.at; last++ {
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

func (c *chain) scannedRow(row *stored) (s ledger.Scanned) {
	if !row.away {
		var of frame.Stored
		of, row.err = frame.Open(row.frame, row.at)
		row.bytes = of.Bytes
	}
	if _, away := ledger.AsPutAway(row.err); away {
		s.Err = row.err
		return s
	}
	if s.Entry, s.Err = c.decode(row.at, row.bytes, row.err); s.Err == nil {
		if err := c.indexed(s.Entry.Stream, row.stream); err != nil {
			s.Err = &ledger.Damaged{Position: row.at, Err: err}
		}
	}
	s.Stored, s.Err = row.bytes, ReadError(s.Err)
	return s
}

// numbers are the numbers of streams, by the index.
type numbers struct {
	mu   sync.Mutex
	conn *conn // of its own
	find *Stmt
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
		if n.conn, err = openConn(name); err != nil {
			return ofMachine{err} // the file was opened before
		}
	}
	n.find, err = n.conn.prepare("SELECT name, id FROM streams WHERE name >= ? ORDER BY name LIMIT ? | 0")
	return err
}

// ahead reads the number of a stream, 0 if it has none, and those of the streams after it.
func (n *numbers) ahead(s ledger.Stream) error {
	if n.of == nil || len(n.of)+streamsAhead > maxNumbers {
		n.of = make(map[ledger.Stream]int64, maxNumbers)
	}
	n.of[s] = 0
	return n.find.Query(func(row Row) error { n.of[ledger.Stream(row.Text(0))] = row.Int64(1); return nil }, string(s), streamsAhead)
}

func (n *numbers) close() error {
	if n.conn == nil {
		return nil
	}
	return n.conn.close()
}
