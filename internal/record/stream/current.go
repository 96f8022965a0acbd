package stream

import (
	"context"
	"slices"
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
	next    *look   // begins when the one in progress ends; nil: nobody waits for it
	ended   []*look // those that have found entries of which the caches have not learned
	looking bool
	late    bool // a read has waited in vain since told changed
}

// look is one look at the end of the record.
type look struct {
	waiting int           // calls
	done    chan struct{} // closed when end and err are known
	end     ledger.Position
	err     error
	learned chan struct{} // closed when the caches have learned of what it found, or are not waited for any longer
	settled bool          // it is closed
	current bool          // they have learned of it
	limit   *time.Timer   // of the wait for that
}

const (
	// currentWithin is how long the reads of a look wait for the caches before they read the stream.
	currentWithin = time.Second
	// lookTimeout ends a look that nothing answers.
	lookTimeout = 5 * time.Second
)

// NewCurrent returns what says so for the caches of a ledger with this Last, which must not lag.
func NewCurrent(last func(context.Context) (ledger.Position, error)) *Current {
	return &Current{last: last}
}

// Told says that the caches have learned of all entries up to a position.
func (c *Current) Told(at ledger.Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at <= c.told {
		return
	}
	c.told, c.late = at, false
	c.ended = slices.DeleteFunc(c.ended, func(l *look) bool {
		learned := l.end <= at
		if learned {
			l.settle(true)
		}
		return learned
	})
}

// Last returns the position of the newest entry, of which the caches may not have learned.
func (c *Current) Last(ctx context.Context) (ledger.Position, error) {
	defer ledger.Pause(ctx)()
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

// Await returns true when the caches have learned of every entry that was acknowledged before the call, and false when that takes long or cannot be known, as without a Current.
func (c *Current) Await(ctx context.Context) bool {
	if c == nil {
		return false
	}
	defer ledger.Pause(ctx)()
	l := c.join()
	if l == nil {
		return false
	}
	select {
	case <-l.learned:
		return l.current
	case <-ctx.Done():
		return false
	}
}

// settle ends the waits for a look, once. It needs the lock of its Current.
func (l *look) settle(current bool) {
	if !l.settled {
		l.settled, l.current = true, current
		l.limit.Stop()
		close(l.learned)
	}
}

// join returns a look that begins after the call; nil: it would be in vain.
func (c *Current) join() *look {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late {
		return nil
	}
	if c.next == nil {
		l := &look{done: make(chan struct{}), learned: make(chan struct{})}
		l.limit = time.AfterFunc(currentWithin, func() { c.isLate(l) })
		c.next = l
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
		end, err := c.last(ctx)
		cancel()
		c.found(l, end, err)
		if pause = pace.After(l.waiting); pause > 0 {
			time.AfterFunc(pause, c.look)
		}
	}
}

// found notes the result of a look.
func (c *Current) found(l *look, end ledger.Position, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.end, l.err = end, err
	close(l.done)
	if err != nil || end <= c.told {
		l.settle(err == nil)
	} else {
		c.ended = append(c.ended, l)
	}
}

// isLate ends the waits for a look, and further ones until the caches are told of more.
func (c *Current) isLate(l *look) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !l.settled {
		c.late = true
		l.settle(false)
	}
}
