package ledgertest

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Stream implements [ledger.Ledger]. It never lags.
func (d *Double) Stream(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	if err := ledger.CheckStream(s); err != nil {
		return nil, err
	}
	if limit < 1 {
		return nil, fmt.Errorf("%w: limit %d, want 1 or more", ledger.ErrInvalid, limit)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errClosed
	}
	indices := d.streams[s]
	from := sort.Search(len(indices), func(i int) bool { return d.records[indices[i]].position > after })
	var found []record
	for _, i := range indices[from:min(len(indices), from+min(limit, len(indices)))] {
		found = append(found, d.records[i])
	}
	return decode(found)
}

// Read implements [ledger.Ledger]. It lags by a random time at every call.
func (d *Double) Read(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	if limit < 1 {
		return nil, fmt.Errorf("%w: limit %d, want 1 or more", ledger.ErrInvalid, limit)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil, errClosed
	}
	from, to := d.after(after), d.visible(time.Now().Add(-d.random(d.faults.Lag)))
	to = min(to, from+min(limit, len(d.records)))
	var found []record
	if from < to {
		found = d.records[from:to:to]
	}
	d.mu.Unlock()
	return decode(found)
}

// Follow implements [ledger.Ledger].
func (d *Double) Follow(ctx context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	for {
		found, err := d.next(ctx, after)
		if err != nil {
			return err
		}
		entries, err := decode(found)
		if err != nil {
			return err
		}
		if err := fn(entries); err != nil {
			return err
		}
		after = entries[len(entries)-1].Position
	}
}

// next waits for entries after a position and returns some of them.
func (d *Double) next(ctx context.Context, after ledger.Position) ([]record, error) {
	lag := time.Duration(-1) // of the next batch, drawn once there is one
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d.mu.Lock()
		if d.closed {
			d.mu.Unlock()
			return nil, errClosed
		}
		from, changed, wait := d.after(after), d.changed, time.Duration(0)
		if from < len(d.records) {
			if lag < 0 || lag > d.faults.Lag {
				lag = d.random(d.faults.Lag)
			}
			now := time.Now()
			if to := d.visible(now.Add(-lag)); from < to {
				to = d.prefix(from, to)
				found := d.records[from:to:to]
				d.mu.Unlock()
				return found, nil
			}
			wait = d.records[from].at.Add(lag).Sub(now)
		}
		d.mu.Unlock()
		if err := d.await(ctx, changed, wait); err != nil {
			return nil, err
		}
	}
}

// await returns when something has changed, or after wait if that is positive.
func (d *Double) await(ctx context.Context, changed <-chan struct{}, wait time.Duration) error {
	var due <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-changed:
	case <-due:
	case <-d.closing:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// after is the index of the first record after a position. It needs d.mu.
func (d *Double) after(p ledger.Position) int {
	return sort.Search(len(d.records), func(i int) bool { return d.records[i].position > p })
}

// visible is the number of records that a reader may see which lags behind until a time. It needs d.mu.
func (d *Double) visible(until time.Time) int {
	n := sort.Search(len(d.records), func(i int) bool { return d.records[i].at.After(until) })
	return max(n, d.nudged)
}

// prefix cuts a batch short at random if followers lag. It needs d.mu.
func (d *Double) prefix(from, to int) int {
	to = min(to, from+512)
	if d.faults.Lag > 0 {
		to = from + 1 + d.rng.IntN(to-from)
	}
	return to
}

func decode(records []record) ([]ledger.Entry, error) {
	var entries []ledger.Entry
	for _, r := range records {
		e, err := ledger.Decode(r.bytes)
		if err != nil {
			return nil, err
		}
		e.Position = r.position
		entries = append(entries, e)
	}
	return entries, nil
}
