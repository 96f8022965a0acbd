package ledgertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Faults are the faults of a distributed log that the contract allows. Rates are probabilities from 0 to 1 per append. The
// zero value is a ledger without faults.
type Faults struct {
	Seed uint64
	// Conflicts is the rate of spurious conflicts: the append is refused although its stream has not changed.
	Conflicts float64
	// Written and Lost are the rates of unknown outcomes: with the entry written, and without.
	Written, Lost float64
	// Gaps is the greatest number of positions that an append skips.
	Gaps int
	// Lag is the longest time by which Read and Follow lag behind an acknowledged append. Each follower lags by random
	// times of its own.
	Lag time.Duration
	// Latency is the longest time that an append takes, part of it before and part after the compare-and-set.
	Latency time.Duration
}

// Double is a ledger in memory. It keeps bytes, never values, so that a value that encoding does not preserve is lost here
// too. It waits only on channels and timers, so that it works in testing/synctest bubbles.
type Double struct {
	mu      sync.Mutex
	faults  Faults
	rng     *rand.Rand
	records []record
	streams map[ledger.Stream][]int // indices into records
	nudged  int                     // records that every reader sees
	changed chan struct{}           // closed and replaced when there is something new
	refuse  error                   // set by Break
	closing chan struct{}
	closed  bool
}

type record struct {
	position ledger.Position
	bytes    []byte
	at       time.Time
}

var _ ledger.Ledger = (*Double)(nil)

// NewDouble returns an empty ledger with the given faults.
func NewDouble(f Faults) *Double {
	return &Double{faults: f, rng: rand.New(rand.NewPCG(f.Seed, 0)), //nolint:gosec // reproducible on purpose
		streams: map[ledger.Stream][]int{}, changed: make(chan struct{}), closing: make(chan struct{})}
}

// SetFaults changes the faults from now on; the seed has no further effect.
func (d *Double) SetFaults(f Faults) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = f
	d.wake()
}

// Nudge makes every appended entry visible to all followers now.
func (d *Double) Nudge() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.nudged = len(d.records)
	d.wake()
}

// Break makes the ledger refuse appends with an ErrUnavailable that wraps cause, until it is called with nil.
func (d *Double) Break(cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refuse = nil
	if cause != nil {
		d.refuse = fmt.Errorf("%w: %w", ledger.ErrUnavailable, cause)
	}
}

// Reopen returns a new ledger with the same entries and faults, as after a restart of all nodes. The old one must
// be closed.
func (d *Double) Reopen() *Double {
	d.mu.Lock()
	defer d.mu.Unlock()
	again := NewDouble(d.faults)
	again.rng, again.records, again.streams = d.rng, d.records, d.streams
	again.nudged = len(d.records)
	return again
}

// Append implements [ledger.Ledger].
func (d *Double) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	if err := ctx.Err(); err != nil {
		return 0, unknown(err)
	}
	b, err := e.EncodeFor(nil, expect)
	if err != nil {
		return 0, err
	}
	before, after := d.latencies()
	if err := d.pause(ctx, before); err != nil {
		return 0, unknown(err)
	}
	p, err := d.write(e, b, expect)
	if pauseErr := d.pause(ctx, after); pauseErr != nil {
		return 0, unknown(pauseErr)
	}
	return p, err
}

// write does the compare-and-set, or one of the faults.
func (d *Double) write(e ledger.Entry, b []byte, expect ledger.Position) (ledger.Position, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := e.Stream
	if err := d.err(); err != nil {
		return 0, err
	}
	if end := d.end(s); expect != ledger.Any && expect != end {
		return 0, fmt.Errorf("%w: %s ends at %d, not %d", ledger.ErrConflict, s, end, expect)
	}
	if expect != ledger.Any && d.happens(d.faults.Conflicts) {
		return 0, fmt.Errorf("%w: spurious", ledger.ErrConflict)
	}
	if d.happens(d.faults.Lost) {
		return 0, fmt.Errorf("%w: no answer", ledger.ErrUnknown)
	}
	if expect == ledger.Any {
		var err error
		if b, err = d.inOrder(e, b); err != nil {
			return 0, err
		}
	}
	p := d.last() + 1
	if d.faults.Gaps > 0 {
		p += ledger.Position(d.rng.IntN(d.faults.Gaps + 1)) //nolint:gosec // not negative
	}
	d.streams[s] = append(d.streams[s], len(d.records))
	d.records = append(d.records, record{position: p, bytes: b, at: time.Now()})
	d.wake()
	if d.happens(d.faults.Written) {
		return 0, fmt.Errorf("%w: no answer", ledger.ErrUnknown)
	}
	return p, nil
}

// inOrder returns the bytes of an entry, with the time of the last one of its stream if its own is earlier.
func (d *Double) inOrder(e ledger.Entry, b []byte) ([]byte, error) {
	own := d.streams[e.Stream]
	if len(own) == 0 {
		return b, nil
	}
	last, err := decode([]record{d.records[own[len(own)-1]]})
	if err != nil || !e.Time.Before(last[0].Time) {
		return b, err
	}
	e.Time = last[0].Time
	return e.EncodeFor(nil, ledger.Any)
}

// Last implements [ledger.Ledger].
func (d *Double) Last(ctx context.Context) (ledger.Position, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return 0, errClosed
	}
	return d.last(), ctx.Err()
}

// Err implements [ledger.Ledger].
func (d *Double) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err()
}

// Close implements [ledger.Ledger].
func (d *Double) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.closed = true
		close(d.closing)
	}
	return nil
}

// The methods below need d.mu.

func (d *Double) err() error {
	if d.closed {
		return errClosed
	}
	return d.refuse
}

func (d *Double) last() ledger.Position {
	if len(d.records) == 0 {
		return 0
	}
	return d.records[len(d.records)-1].position
}

func (d *Double) end(s ledger.Stream) ledger.Position {
	indices := d.streams[s]
	if len(indices) == 0 {
		return 0
	}
	return d.records[indices[len(indices)-1]].position
}

func (d *Double) happens(rate float64) bool { return rate > 0 && d.rng.Float64() < rate }

func (d *Double) wake() {
	close(d.changed)
	d.changed = make(chan struct{})
}

func (d *Double) random(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return time.Duration(d.rng.Int64N(int64(limit) + 1))
}

func (d *Double) latencies() (before, after time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	total := d.random(d.faults.Latency)
	before = d.random(total)
	return before, total - before
}

func (d *Double) pause(ctx context.Context, t time.Duration) error {
	if t <= 0 {
		return nil
	}
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errClosed = fmt.Errorf("%w: the ledger is closed", ledger.ErrUnavailable)

func unknown(cause error) error { return fmt.Errorf("%w: %w", ledger.ErrUnknown, cause) }
