package server

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Clock is a clock of tests: it can be moved forward. It is safe for many goroutines.
type Clock struct {
	mu    sync.Mutex
	ahead time.Duration // of the system's clock
	at    time.Time     // of a clock that stands; zero: it runs
}

// NewClock returns a clock that runs with that of the system, or one that stands at a time until it is moved.
func NewClock(at time.Time) *Clock { return &Clock{at: at} }

// Now is the time by the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.at.IsZero() {
		return c.at
	}
	return time.Now().Add(c.ahead)
}

// stands reports whether the clock moves only when it is moved. A clock that is nil is the system's.
func (c *Clock) stands() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.at.IsZero()
}

// move moves the clock to a time, unless it is past that already.
func (c *Clock) move(to time.Time) {
	now := c.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !to.After(now):
	case c.at.IsZero():
		c.ahead += to.Sub(now)
	default:
		c.at = to
	}
}

// Settle waits until all that follows from the calls so far has happened, and returns the time of the next timer; zero: there is
// none. It is for tests.
func (s *Server) Settle(ctx context.Context) (next time.Time, err error) {
	return s.courier.Settle(ctx)
}

// Advance moves the clock of [Config].Clock, stopping at every timer on the way, and returns the new time when all that follows has
// happened. So a timer of 10 s that sets one of 20 s is as late after a minute as it would be without the call. Calls at the same
// time run one after the other.
func (s *Server) Advance(ctx context.Context, by time.Duration) (time.Time, error) {
	s.advancing.Lock()
	defer s.advancing.Unlock()
	clock := s.config.Clock
	to := clock.Now().Add(by)
	for {
		next, err := s.Settle(ctx)
		if err == nil {
			err = s.judge(ctx)
		}
		if err != nil {
			return clock.Now(), err
		}
		if next.IsZero() || next.After(to) {
			break
		}
		clock.move(next.Add(time.Millisecond - 1).Truncate(time.Millisecond)) // the views leave out parts of microseconds
	}
	clock.move(to)
	_, err := s.Settle(ctx)
	if err == nil {
		err = s.judge(ctx)
	}
	return clock.Now(), err
}

// judge judges the alerts when all that has happened is counted.
func (s *Server) judge(ctx context.Context) error {
	last, err := s.log.Last(ctx)
	if err == nil {
		err = s.monitor.Wait(ctx, last)
	}
	if err != nil {
		return err
	}
	return s.alerting.Judge(ctx)
}

// minMemory is the free space, in bytes, below which temporary data are not kept in memory.
const minMemory = 1 << 30

// makeTemporary creates the data directory of a server with temporary data. owner, if there is one, shows others that its server lives.
func makeTemporary() (dir string, owner io.Closer, err error) {
	if memory := memoryDir(); memory != "" {
		if dir, owner, err = makeOwned(memory); err == nil {
			return dir, owner, nil
		}
	}
	if dir, err = os.MkdirTemp("", "trapeze-"); err != nil {
		return "", nil, fmt.Errorf("temporary data directory: %w", err)
	}
	return dir, nil, nil
}
