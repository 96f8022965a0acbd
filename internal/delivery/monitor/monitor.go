package monitor

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/watch"
)

// pause is the time after an error before the record is followed again.
const pause = time.Second

// Options of a Monitor. The zero value is usable.
type Options struct {
	Now func() time.Time // nil means time.Now
	Log *slog.Logger     // nil means slog.Default
	// Figures are the options of the figures that are counted from the record.
	Figures figure.Options
	// Process adds the figures of the process; nil: there are none.
	Process func(*figure.Set)
	// Integrity is what was found to differ between the record and its tree; nil: it is not compared.
	Integrity func() error
	// Witnessed is what a witness refuses of the record; nil: there are none.
	Witnessed func() error
	// Certified is what is wrong with the certificate of the server; nil: it has none.
	Certified func() error
}

// Monitor counts one ledger. Run it once. Its other methods are safe for concurrent use.
type Monitor struct {
	ledger ledger.Ledger
	views  view.Store
	tally  *figure.Tally
	hub    *watch.Hub[struct{}]
	o      Options
	ready  atomic.Bool // the ledger has been counted up to where it was at the start
	loads  loads
	boxes  boxes
	// waiting are the open tickets.
	waiting waiting

	lasting  lasting
	disagree disagree
}

// New returns a monitor of a ledger and its views. It is not running.
func New(l ledger.Ledger, v view.Store, o Options) *Monitor {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Monitor{ledger: l, views: v, tally: figure.NewTally(o.Figures), hub: watch.New[struct{}](), o: o}
}

// Run counts every entry until ctx ends. After an error, which is logged, it goes on where it was.
func (m *Monitor) Run(ctx context.Context) {
	for ctx.Err() == nil {
		err := m.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		var damaged *ledger.Damaged
		if errors.As(err, &damaged) && damaged.Position > m.tally.Position() {
			_, away := ledger.AsPutAway(err)
			m.tally.Skip(damaged.Position, away)
			if away {
				continue // that is told when the server starts
			}
			m.o.Log.Error("a damaged entry is in no figure", "position", damaged.Position, "error", err)
			continue
		}
		m.o.Log.Warn("the figures are counted again from where they were", "position", m.tally.Position(), "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (m *Monitor) follow(ctx context.Context) error {
	goal, err := m.ledger.Last(ctx)
	if err != nil {
		return err
	}
	m.counted(goal)
	return m.ledger.Follow(ctx, m.tally.Position(), func(entries []ledger.Entry) error {
		if err := m.tally.Add(entries); err != nil {
			return err
		}
		m.counted(goal)
		return nil
	})
}

// counted announces the position of the figures.
func (m *Monitor) counted(goal ledger.Position) {
	at := m.tally.Position()
	if at >= goal {
		m.ready.Store(true)
	}
	m.hub.Publish(at, nil, false)
}

// Wait returns when the entries up to a position are counted, or when ctx ends.
func (m *Monitor) Wait(ctx context.Context, at ledger.Position) error {
	return m.hub.Wait(ctx, at, func() error { return nil })
}

// Ready reports whether the figures of the record are complete.
func (m *Monitor) Ready() bool { return m.ready.Load() }

// Recent returns the handoffs of a workspace that ended at or after a time, at most [figure.Window] ago, the oldest first, and the time
// since which the list is complete.
func (m *Monitor) Recent(workspace string, since time.Time) (list []figure.Handoff, complete time.Time) {
	return m.tally.Recent(workspace, since)
}
