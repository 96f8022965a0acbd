package positions

import (
	"context"
	"errors"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// Position is a place in the ledger. The API names it here, because it does not know the ledger.
type Position = ledger.Position

// Positions are how far a ledger and the views that follow it have come. Its methods are safe for many goroutines.
type Positions struct {
	ledger ledger.Ledger
	views  view.Store
	intact func() error
}

// New returns the positions of a ledger and its views. intact is nil, or says what is wrong with the record.
func New(l ledger.Ledger, v view.Store, intact func() error) *Positions {
	if intact == nil {
		intact = func() error { return nil }
	}
	return &Positions{ledger: l, views: v, intact: intact}
}

// Viewed is the position up to which the views have everything: what lists are true to at least.
func (p *Positions) Viewed() ledger.Position { return p.views.Position() }

// Last is the position of the newest entry.
func (p *Positions) Last(ctx context.Context) (ledger.Position, error) {
	last, err := p.ledger.Last(ctx)
	if err != nil {
		return 0, stream.Unavailable(err)
	}
	return last, nil
}

// Check refuses a position that is beyond the newest entry: it is of another record, and what comes next in this one
// would be taken for known.
func (p *Positions) Check(ctx context.Context, at ledger.Position) error {
	if at <= p.views.Position() {
		return nil
	}
	last, err := p.Last(ctx)
	if err != nil || at <= last {
		return err
	}
	// An entry can be read, and its position be in an answer, a moment before the ledger and the views report it.
	if entries, err := p.ledger.Read(ctx, at-1, 1); err != nil {
		return stream.Unavailable(err)
	} else if len(entries) > 0 {
		return nil
	}
	return refusal.New(refusal.Invalid, "give the position of an answer of this server",
		"position %d is beyond the newest entry, %d", at, last)
}

// Wait returns when the views have everything up to a position.
func (p *Positions) Wait(ctx context.Context, at ledger.Position) error {
	if err := p.views.Wait(ctx, at); err != nil {
		return stream.Unavailable(err)
	}
	return nil
}

// CatchUp returns when the views have what is recorded now.
func (p *Positions) CatchUp(ctx context.Context) error {
	_, err := stream.CatchUp(ctx, p.ledger, p.views.Position(), p.views.Wait)
	return err
}

// Err is nil while the server can do its work, and otherwise says why it cannot.
func (p *Positions) Err() error {
	if err := p.ledger.Err(); err != nil {
		return err
	}
	if err := p.intact(); err != nil {
		return err
	}
	return p.views.Err()
}

// ReadOnly reports whether the server answers reads but records no changes, because the disk is full.
func (p *Positions) ReadOnly() bool { return errors.Is(p.ledger.Err(), ledger.ErrFull) }

// Apart reports whether too few of the servers that keep the record answer this one.
func (p *Positions) Apart() bool { return errors.Is(p.ledger.Err(), ledger.ErrNoMajority) }
