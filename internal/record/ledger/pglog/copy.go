package pglog

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// ErrNotEmpty: the record has entries, and those of another cannot be copied into it.
var ErrNotEmpty = errors.New("pglog: the database has a record already: use another database, or drop its schema")

// Copy fills an empty record with the entries of another ledger as they are, at their positions, in one transaction: all of them or none. next returns the
// entries that follow, and none at the end. Errors: ErrNotEmpty, ErrInvalid for an entry that does not fit, and those of next.
func (l *Log) Copy(ctx context.Context, next func() ([]ledger.Entry, error)) error {
	conn, err := connect(ctx, l.config)
	if err != nil {
		return err
	}
	defer hangUp(conn)
	p := &plan{heads: map[ledger.Stream]head{}}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var end status
		if err := end.scan(tx.QueryRow(ctx, l.queries.lock)); err != nil {
			return err
		}
		if end.last != 0 {
			return ErrNotEmpty
		}
		for {
			entries, err := next()
			if err != nil {
				return err
			}
			if len(entries) == 0 {
				break
			}
			if err := p.copy(entries); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, l.queries.insert, p.positions, p.streams, p.previous, p.frames); err != nil {
				return err
			}
			p.positions, p.streams, p.previous, p.frames = nil, nil, nil, nil
		}
		_, err := tx.Exec(ctx, l.queries.move, p.last)
		return err
	})
	if err == nil {
		l.health.reached(p.last)
	}
	return err
}

// copy plans entries at their own positions.
func (p *plan) copy(entries []ledger.Entry) error {
	for _, e := range entries {
		if e.Enc == ledger.EncSealed {
			return fmt.Errorf("%w: the content of entry %d can be erased, which goes with a data directory alone", ledger.ErrInvalid, e.Position)
		}
		expect := p.heads[e.Stream].position
		if e.Version == 0 {
			expect = ledger.Any
		}
		r, err := newRequest(e, expect)
		if err != nil {
			return err
		}
		at, err := p.add(r)
		if err != nil {
			return err
		}
		if at != e.Position {
			return fmt.Errorf("%w: position %d does not follow %d", ledger.ErrInvalid, e.Position, at-1)
		}
	}
	return nil
}
