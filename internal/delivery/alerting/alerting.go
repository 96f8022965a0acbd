package alerting

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/delivery/monitor"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/alerts"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

const (
	every = 15 * time.Second // the interval of judgements while nothing happens
	least = 2 * time.Second  // between judgements while much happens
	pause = time.Second      // after an error, before trying again
)

// Options of an Alerting. The zero value is usable.
type Options struct {
	Log *slog.Logger // nil means slog.Default
	// Sinks notify people.
	Sinks []Sink
	// Manual leaves it to the caller to judge: for tests whose clock stands.
	Manual bool
	// Moving is held while a test moves the clock; nothing is judged by itself then, since timers of the new time may not have run. nil: no clock is moved.
	Moving sync.Locker
	// Alone calls fn while no other server does so, until ctx ends: one judges, and tells people. nil: there is no other.
	Alone func(ctx context.Context, fn func(context.Context))
}

// Alerting judges what is measured. Run it once.
type Alerting struct {
	alerts  *alerts.Alerts
	monitor *monitor.Monitor
	ledger  ledger.Ledger
	views   view.Store
	o       Options
}

// New returns the alerting of a ledger, which a monitor measures. It is not running.
func New(a *alerts.Alerts, m *monitor.Monitor, l ledger.Ledger, v view.Store, o Options) *Alerting {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Alone == nil {
		o.Alone = func(ctx context.Context, fn func(context.Context)) { fn(ctx) }
	}
	return &Alerting{alerts: a, monitor: m, ledger: l, views: v, o: o}
}

// Run judges, and notifies people, until ctx ends. After errors, which are logged, it tries again.
func (a *Alerting) Run(ctx context.Context) {
	var wg sync.WaitGroup
	if !a.o.Manual {
		wg.Go(func() { a.o.Alone(ctx, a.watch) })
	}
	for i := range a.o.Sinks {
		wg.Go(func() {
			a.o.Alone(ctx, func(ctx context.Context) { a.again(ctx, &a.o.Sinks[i]) })
		})
	}
	wg.Wait()
}

// watch judges after what happens, and every 15 seconds.
func (a *Alerting) watch(ctx context.Context) {
	failing := false
	for ctx.Err() == nil {
		at := a.monitor.At()
		err := a.judgeAlone(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			a.o.Log.Warn("alerts cannot be judged now; the server tries again", "error", err)
		case err == nil && failing:
			a.o.Log.Info("alerts are judged again")
		}
		failing = err != nil
		sleep(ctx, least)
		wait, cancel := context.WithTimeout(ctx, every-least)
		_ = a.monitor.Wait(wait, at+1)
		cancel()
	}
}

// judgeAlone judges while nobody moves the clock.
func (a *Alerting) judgeAlone(ctx context.Context) error {
	if a.o.Moving != nil {
		a.o.Moving.Lock()
		defer a.o.Moving.Unlock()
	}
	return a.Judge(ctx)
}

// Judge measures all workspaces once and records what changes.
func (a *Alerting) Judge(ctx context.Context) error {
	x, err := a.monitor.Measure(ctx)
	workspaces, unread := a.workspaces(ctx)
	if unread != nil {
		return errors.Join(err, unread)
	}
	for _, w := range workspaces {
		err = errors.Join(err, a.judge(ctx, x, w))
	}
	return err
}

// workspaces lists all workspaces.
func (a *Alerting) workspaces(ctx context.Context) ([]string, error) {
	list, err := a.views.Workspaces(ctx)
	if !slices.Contains(list, identity.DefaultWorkspace) {
		list = append(list, identity.DefaultWorkspace)
	}
	return list, err
}

// again notifies a sink until ctx ends, with a pause after each error.
func (a *Alerting) again(ctx context.Context, s *Sink) {
	for ctx.Err() == nil {
		err := a.notify(ctx, s)
		if ctx.Err() != nil {
			return
		}
		a.o.Log.Warn("the alerts are followed again for a sink", "sink", s.Name(), "error", err)
		sleep(ctx, pause)
	}
}

func (a *Alerting) judge(ctx context.Context, x *monitor.Measurement, workspace string) error {
	if x.Archived(workspace) {
		return caller.Tolerate(a.alerts.Judge(ctx, caller.System(workspace, "alerts"), alert.Judge{Archived: true})) // in one that moves, nothing ends
	}
	definitions, off, err := a.alerts.InForce(ctx, workspace)
	if err != nil {
		return err
	}
	conditions, measured, missed := x.Conditions(ctx, workspace, workspace == identity.DefaultWorkspace, definitions)
	err = a.alerts.Judge(ctx, caller.System(workspace, "alerts"), alert.Judge{Measured: measured, Conditions: conditions, Off: off})
	return errors.Join(missed, err)
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
