package ledgertest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// frontEnds is several front ends of one record.
type frontEnds struct {
	ledgers []ledger.Ledger
	calls   atomic.Uint64
}

// FrontEnds returns several front ends of one record as one ledger: each call goes to the next of them, so that what one has appended another
// must show.
func FrontEnds(of ...ledger.Ledger) ledger.Ledger { return &frontEnds{ledgers: of} }

func (f *frontEnds) next() ledger.Ledger { return f.ledgers[f.calls.Add(1)%uint64(len(f.ledgers))] }

func (f *frontEnds) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	return f.next().Append(ctx, e, expect)
}

func (f *frontEnds) Stream(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	return f.next().Stream(ctx, s, after, limit)
}

func (f *frontEnds) Read(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	return f.next().Read(ctx, after, limit)
}

func (f *frontEnds) Follow(ctx context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	return f.next().Follow(ctx, after, fn)
}

func (f *frontEnds) Last(ctx context.Context) (ledger.Position, error) { return f.next().Last(ctx) }

func (f *frontEnds) Err() error { return f.next().Err() }

func (f *frontEnds) Close() error {
	var errs []error
	for _, l := range f.ledgers {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}
