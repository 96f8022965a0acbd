package stream

import (
	"context"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/pace"
)

// Current says up to where caches have learned of the entries of other servers, so that a cached fold can be a fresh read: one look at the end of the record
// is shared by all reads that wait for it.
type Current struct {
	last func(context.Context) (ledger.Position, error)

	mu      sync.Mutex
	told    ledger.Position
	moved   chan struct{} // closed when told changes
	next    *look         // begins when the one in progress ends; nil: nobody waits for it
	looking bool
	late    bool // a read has waited in vain since told changed
}

// look is one look at the end of the record.
type look struct {
	waiting int // calls
	done    chan struct{}
	end     ledger.Position
	err     error
}

const (
	// currentWithin is how long a read waits for the caches before it reads the stream.
	currentWithin = time.Second
	// lookTimeout ends a look that nothing answers.
	lookTimeout = 5 * time.Second
)

// NewCurrent returns what says so for the caches of a ledger with this Last, which must not lag.
func NewCurrent(last func(context.Context) (ledger.Position, error)) *Current {
	return &Current{last: last, moved: make(chan struct{})}
}

// Told says that the caches have learned of all entries up to a position.
func (c *Current) Told(at ledger.Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at > c.told {
		c.told, c.late = at, false
		close(c.moved)
		c.moved = make(chan struct{})
	}
}

// Last returns the position of the newest entry, of which the caches may not have learned.
func (c *Current) Last(ctx context.Context) (ledger.Position, error) {
	if l := c.join(); l != nil {
		select {
		case <-l.done:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		if l.err == nil {
			return l.end, nil
		}
	}
	return c.last(ctx)
}

// await returns true when the caches have learned of every entry that was acknowledged before the call, and false when that takes long or cannot be known.
func (c *Current) await(ctx context.Context) bool {
	within, cancel := context.WithTimeout(ctx, currentWithin)
	defer cancel()
	l := c.join()
	if l == nil {
		return false
	}
	select {
	case <-l.done:
	case <-within.Done():
		c.isLate(ctx)
		return false
	}
	for l.err == nil {
		c.mu.Lock()
		told, moved := c.told, c.moved
		c.mu.Unlock()
		if told >= l.end {
			return true
		}
		select {
		case <-moved:
		case <-within.Done():
			c.isLate(ctx)
			return false
		}
	}
	return false
}

// isLate ends waiting until the caches are told of more, unless it was the caller that waited no longer.
func (c *Current) isLate(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late = c.late || ctx.Err() == nil
}

// join returns a look that begins after the call; nil: it would be in vain.
func (c *Current) join() *look {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late {
		return nil
	}
	if c.next == nil {
		c.next = &look{done: make(chan struct{})}
	}
	l := c.next
	l.waiting++
	if !c.looking {
		c.looking = true
		go c.look()
	}
	return l
}

// look looks until nobody waits for a look. While many do, looks are rarer: each more is a question to the one server that can answer it.
func (c *Current) look() {
	for pause := time.Duration(0); pause == 0; {
		c.mu.Lock()
		l := c.next
		c.next, c.looking = nil, l != nil
		c.mu.Unlock()
		if l == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
		l.end, l.err = c.last(ctx)
		cancel()
		close(l.done)
		if pause = pace.After(l.waiting); pause > 0 {
			time.AfterFunc(pause, c.look)
		}
	}
}
