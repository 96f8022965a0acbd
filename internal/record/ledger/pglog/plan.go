package pglog

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/frame"
)

// head is the end of a stream: its last position, and the time of that entry if it is needed.
type head struct {
	position ledger.Position
	at       time.Time
}

// readHeads reads the ends of streams. One that is missing does not exist.
func readHeads(rows pgx.Rows) (map[ledger.Stream]head, error) {
	heads := map[ledger.Stream]head{}
	defer rows.Close()
	var stream string // the types of this package are scanned by reflection
	var position int64
	var b pgtype.DriverBytes
	for rows.Next() {
		if err := rows.Scan(&stream, &position, &b); err != nil {
			return nil, err
		}
		h := head{position: ledger.Position(position)} //nolint:gosec // never negative
		if b != nil {                                  // a damaged entry does not stop the record of reads
			if s, err := frame.Open(b, h.position); err == nil {
				if e, err := ledger.Decode(s.Bytes); err == nil {
					h.at = e.Time
				}
			}
		}
		heads[ledger.Stream(stream)] = h
	}
	return heads, rows.Err()
}

// plan is what a transaction inserts, one column after the other.
type plan struct {
	last      ledger.Position // of the record with what is inserted
	heads     map[ledger.Stream]head
	positions []int64
	streams   []string
	previous  []int64
	frames    [][]byte
}

// add plans one entry, if its stream ends where the request expects, and returns its position.
func (p *plan) add(r *request) (ledger.Position, error) {
	stream := r.entry.Stream
	h := p.heads[stream]
	switch {
	case r.expect == ledger.Any && r.entry.Time.Before(h.at):
		e := r.entry
		e.Time = h.at
		if err := r.set(e); err != nil {
			return 0, err
		}
	case r.expect != ledger.Any && r.expect != h.position:
		return 0, fmt.Errorf("%w: %s ends at %d, not %d", ledger.ErrConflict, stream, h.position, r.expect)
	}
	at := p.last + 1
	if err := frame.Seal(r.frame, r.sum, at, h.position, 0); err != nil {
		return 0, err
	}
	p.positions = append(p.positions, int64(at)) //nolint:gosec // PostgreSQL counts to the same number
	p.streams = append(p.streams, string(stream))
	p.previous = append(p.previous, int64(h.position)) //nolint:gosec // as above
	p.frames = append(p.frames, r.frame)
	r.previous = h.position
	p.last, p.heads[stream] = at, head{position: at, at: r.entry.Time}
	return at, nil
}
