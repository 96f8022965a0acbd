package late

import (
	"sync"
	"sync/atomic"
	"time"
)

// Every is how late tables may be, and After how many entries they may lack, until somebody reads them: a task that changes several times
// meanwhile is written once.
const (
	Every = 2 * time.Second
	After = 4096
)

// Late is what tables lack. Its owner, the projector, changes it on one goroutine at a time; numbers of type N and the first timer are also for
// readers. The zero value is of tables that are never late.
type Late[N comparable] struct {
	write   func() error
	behind  atomic.Bool // the tables lack something
	asked   atomic.Bool // somebody had to wait for that
	entries int         // that the tables lack
	timer   *time.Timer // writes what nobody has asked for
	stopped atomic.Bool

	mu      sync.Mutex
	numbers map[N]int // changes of numbers
	soonest time.Time // the first timer; zero: none
}

// Start lets the tables be late: write is called when they have been for [Every], and again if it fails.
func (l *Late[N]) Start(write func() error) {
	l.timer = time.AfterFunc(Every, func() {
		if write() != nil && !l.stopped.Load() {
			l.timer.Reset(Every)
		}
	})
	l.timer.Stop()
	l.write = write
}

// Started reports whether the tables may be late.
func (l *Late[N]) Started() bool { return l.write != nil }

// Stop ends the calls of write.
func (l *Late[N]) Stop() {
	l.stopped.Store(true)
	if l.timer != nil {
		l.timer.Stop()
	}
}

// Full reports whether the tables would lack too many if they lacked so many more entries.
func (l *Late[N]) Full(more int) bool { return l.entries+more >= After }

// More notes that the tables lack so many more entries. Call it before it is looked who watches: a reader who begins to watch later, and reads,
// then finds that the tables are behind.
func (l *Late[N]) More(entries int) {
	l.behind.Store(true)
	if l.entries == 0 {
		l.timer.Reset(Every)
	}
	l.entries += entries
}

// None notes that the tables have everything.
func (l *Late[N]) None() {
	if l.entries > 0 {
		l.timer.Stop()
	}
	l.entries = 0
	l.behind.Store(false)
}

// Behind reports whether the tables lack something.
func (l *Late[N]) Behind() bool { return l.behind.Load() }

// Ask notes that a reader waits until the tables are written.
func (l *Late[N]) Ask() { l.asked.Store(true) }

// Asked reports whether a reader has waited since the last call: another is likely to come.
func (l *Late[N]) Asked() bool { return l.asked.Swap(false) }

// Count adds to a number that the tables lack.
func (l *Late[N]) Count(of N, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.numbers == nil {
		l.numbers = map[N]int{}
	}
	l.numbers[of] += n
}

// Number returns a number that the tables lack.
func (l *Late[N]) Number(of N) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.numbers[of]
}

// Numbers calls put, on the goroutine of the owner, with each number that the tables lack; then they have them, if the transaction is committed.
func (l *Late[N]) Numbers(put func(N, int) error) error {
	for of, n := range l.numbers { // nobody else changes it
		if err := put(of, n); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.numbers)
	return nil
}

// Due notes a timer that the tables lack.
func (l *Late[N]) Due(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.soonest.IsZero() || at.Before(l.soonest) {
		l.soonest = at
	}
}

// Soonest returns the first timer that the tables lack; zero: none.
func (l *Late[N]) Soonest() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.soonest
}

// Timed notes that the tables have all timers, if the transaction is committed.
func (l *Late[N]) Timed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.soonest = time.Time{}
}

// Forget notes that nothing is known of what the tables lack: a timer of it may be due.
func (l *Late[N]) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.numbers)
	l.soonest = time.Time{}
	if l.behind.Load() {
		l.soonest = time.Unix(0, 0)
	}
}
