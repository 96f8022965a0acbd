package courier

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/delivery/notify"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/followup"
)

const (
	cursor    = "courier"
	dueBatch  = 200         // timers handled at a time
	dueAtOnce = 16          // of those, concurrently: they share fsyncs
	saveEvery = time.Second // the interval of saving the position; later entries are handled again after a restart
	idle      = time.Minute // the longest sleep between checks of the timers
	pause     = time.Second // after an error, before trying again

	// tolerance is the greatest delay of a timer: under load the views change all the time, and need not be queried each time.
	tolerance     = 50 * time.Millisecond
	presenceEvery = 5 * time.Second // the interval of checks for new leases of presence
)

// Options of a Courier. The zero value is usable.
type Options struct {
	Now func() time.Time // nil means time.Now
	Log *slog.Logger     // nil means slog.Default
	// Sinks deliver notices about tickets to people.
	Sinks []notify.Sink
	// Alone calls fn while no other server does so, until ctx ends: sinks are told by one. nil: there is no other.
	Alone func(ctx context.Context, fn func(context.Context))
}

// Courier follows one ledger. Run it once.
type Courier struct {
	do     *followup.FollowUp
	ledger ledger.Ledger
	views  view.Store
	codec  *ledger.Codec[event.Event]
	o      Options

	reached progress // of the reactions
}

// New returns a courier of a ledger and the views that follow it. It is not running.
func New(f *followup.FollowUp, l ledger.Ledger, v view.Store, o Options) *Courier {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Alone == nil {
		o.Alone = func(ctx context.Context, fn func(context.Context)) { fn(ctx) }
	}
	return &Courier{do: f, ledger: l, views: v, codec: ledger.NewCodec(event.Events...), o: o}
}

// Run runs until ctx ends. After errors, which are logged, it tries again: no reaction is ever abandoned.
func (c *Courier) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { c.again(ctx, "reactions", c.follow) })
	wg.Go(func() { c.again(ctx, "timers", c.watchTimers) })
	wg.Go(func() { c.again(ctx, "presence", c.watchPresence) })
	for _, s := range c.o.Sinks {
		wg.Go(func() {
			c.o.Alone(ctx, func(ctx context.Context) {
				c.again(ctx, "notices to "+s.Name(), func(ctx context.Context) error { return c.notify(ctx, s) })
			})
		})
	}
	wg.Wait()
}

// again runs a loop until ctx ends, with a pause after each error.
func (c *Courier) again(ctx context.Context, what string, loop func(context.Context) error) {
	for ctx.Err() == nil {
		err := loop(ctx)
		if ctx.Err() != nil {
			return
		}
		c.o.Log.Warn("courier tries again", "what", what, "error", err)
		sleep(ctx, pause, nil)
	}
}

// follow reacts to every entry after the saved position.
func (c *Courier) follow(ctx context.Context) error {
	after, err := c.views.Cursor(ctx, cursor)
	if err != nil {
		return err
	}
	saved := c.o.Now()
	reached := after
	c.reached.set(reached)
	defer func() { // best effort: entries after the saved position are handled again
		if reached > after {
			_ = c.views.SaveCursor(context.WithoutCancel(ctx), cursor, reached)
		}
	}()
	skipped := func(at ledger.Position, err error) {
		if _, away := ledger.AsPutAway(err); !away { // that is told when the server starts
			c.o.Log.Error("a damaged entry has no effects", "position", at, "error", err)
		}
		reached = at
		c.reached.set(reached)
	}
	return ledger.FollowPast(ctx, c.ledger, after, skipped, func(entries []ledger.Entry) error {
		for _, e := range entries {
			if err := c.react(ctx, e); isDamaged(err) {
				c.o.Log.Error("an entry has no effects: what it is about is damaged", "position", e.Position, "stream", e.Stream, "error", err)
			} else if err != nil {
				return err
			}
			reached = e.Position
			c.reached.set(reached)
		}
		if now := c.o.Now(); now.Sub(saved) >= saveEvery {
			saved = now
			return c.views.SaveCursor(ctx, cursor, reached)
		}
		return nil
	})
}

// isDamaged reports whether an error names a damaged entry: to try again does not help.
func isDamaged(err error) bool {
	if _, ok := errors.AsType[*ledger.Damaged](err); ok {
		return true
	}
	r, refused := refusal.As(err)
	return refused && (r.Code == refusal.Unavailable || r.Code == refusal.Conflict) && r.Details["position"] != nil
}

// watchTimers ticks every task whose timer is due, and sleeps until the next one is due or the views change.
func (c *Courier) watchTimers(ctx context.Context) error {
	changed, stop := c.views.Watch("", "")
	defer stop()
	var last []view.Ref
	for {
		now := c.o.Now()
		refs, next, err := c.views.Due(ctx, now, dueBatch)
		if err != nil {
			return err
		}
		stuck := len(refs) > 0 && slices.Equal(refs, last)
		last = refs
		if len(refs) > 0 && !stuck {
			if err := c.tick(ctx, refs); err != nil {
				return err
			}
			continue
		}
		wait := idle
		if stuck { // they were ticked, and the views do not have it yet
			wait, last = pause, nil
		}
		if !next.IsZero() {
			wait = min(wait, max(next.Sub(now), time.Millisecond))
		}
		if !sleep(ctx, wait, changed) || !sleep(ctx, tolerance, nil) {
			return ctx.Err()
		}
	}
}

func (c *Courier) tick(ctx context.Context, refs []view.Ref) error {
	var wg sync.WaitGroup
	errs := make([]error, len(refs))
	slots := make(chan struct{}, dueAtOnce)
	for i, ref := range refs {
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = c.do.Tick(ctx, ref)
			<-slots
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// watchPresence marks agents offline whose heartbeats have stopped. It queries the views only if they have changed, or if an agent may
// have lapsed.
func (c *Courier) watchPresence(ctx context.Context) error {
	var next time.Time // when an agent may have lapsed
	for first, seen := true, ledger.Position(0); ; first = false {
		position := c.views.Position()
		if first || position != seen || !next.IsZero() && !c.o.Now().Before(next) {
			var err error
			if next, err = c.lapsePresence(ctx); err != nil {
				return err
			}
			seen = position
		}
		wait := presenceEvery
		if !next.IsZero() {
			wait = min(wait, max(next.Sub(c.o.Now()), 100*time.Millisecond))
		}
		if !sleep(ctx, wait, nil) {
			return ctx.Err()
		}
	}
}

// lapsePresence makes agents of all workspaces offline whose heartbeats have stopped, and returns when the next could lapse.
func (c *Courier) lapsePresence(ctx context.Context) (next time.Time, err error) {
	workspaces, err := c.views.Workspaces(ctx)
	if err != nil {
		return next, err
	}
	for _, w := range workspaces {
		at, err := c.do.LapsePresence(ctx, w)
		if err != nil {
			return next, err
		}
		if next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return next, nil
}

// sleep waits for a duration or a signal. It returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration, signal <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-signal:
		return true
	case <-ctx.Done():
		return false
	}
}
