package courier

import (
	"context"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Settle waits until everything that follows from the entries recorded so far has happened, and ticks the timers that are due
// by the courier's clock, until there are none. It returns the time of the next timer; zero: there is none. A caller that moves
// the clock needs no other way to wait for the timers. The courier must be running, and the views must not lag.
func (c *Courier) Settle(ctx context.Context) (next time.Time, err error) {
	var ticked ledger.Position // the end of the record before the last ticks
	for first := true; ; {
		last, err := c.ledger.Last(ctx)
		if err != nil {
			return next, err
		}
		if err := c.reached.wait(ctx, last); err != nil {
			return next, err
		}
		lapse, err := c.lapsePresence(ctx)
		if err != nil {
			return next, err
		}
		due, at, err := c.views.Due(ctx, c.o.Now(), dueBatch)
		if err != nil {
			return next, err
		}
		if len(due) > 0 && (first || last != ticked) { // otherwise the ticks changed nothing
			if err := c.tick(ctx, due); err != nil {
				return next, err
			}
			first, ticked = false, last
			continue
		}
		if again, err := c.ledger.Last(ctx); err != nil || again == last {
			return earliest(at, lapse), err
		}
	}
}

// earliest is the earlier of two times; zero times do not count.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// progress is the position up to which the reactions have happened.
type progress struct {
	mu    sync.Mutex
	at    ledger.Position
	moved chan struct{} // is closed at the next change; nil: nobody waits
}

func (p *progress) set(at ledger.Position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = at
	if p.moved != nil {
		close(p.moved)
		p.moved = nil
	}
}

// wait waits until the position is at or ctx ends.
func (p *progress) wait(ctx context.Context, at ledger.Position) error {
	for {
		p.mu.Lock()
		if p.at >= at {
			p.mu.Unlock()
			return nil
		}
		if p.moved == nil {
			p.moved = make(chan struct{})
		}
		moved := p.moved
		p.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
