//go:build slow

package alerting_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/delivery/alerting"
	"github.com/trapezehq/trapeze/internal/delivery/monitor"
	"github.com/trapezehq/trapeze/internal/delivery/notify"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/alerts"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// disk is a ledger on a disk that may be full for alerts.
type disk struct {
	*ledgertest.Double
	full atomic.Bool
}

func (d *disk) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	if _, kind, _ := e.Stream.Parts(); kind == alerts.Kind && d.full.Load() {
		return 0, ledger.ErrUnavailable
	}
	return d.Double.Append(ctx, e, expect)
}

// node is a ledger, its views, and the use cases over them.
type node struct {
	*testing.T
	app   *usecase.UseCases
	disk  *disk
	views *sqlview.Views
}

// bubble tells a story under a fake clock.
func bubble(t *testing.T, faults ledgertest.Faults, tell func(n *node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &node{T: t, disk: &disk{Double: ledgertest.NewDouble(faults)}}
		var err error
		if n.views, err = sqlview.Follow(context.Background(), n.disk.Double, ""); err != nil {
			t.Fatal(err)
		}
		n.app = n.useCases()
		defer func() {
			if err := errors.Join(n.views.Close(), n.disk.Close()); err != nil {
				t.Error(err)
			}
		}()
		for _, name := range []string{"lead", "ann"} {
			if _, err := n.app.Agents.Register(t.Context(), n.as(identity.Operator, "olga"), agents.RegisterInput{Name: name}); err != nil {
				t.Fatal(err)
			}
		}
		tell(n)
	})
}

func (n *node) useCases() *usecase.UseCases {
	n.Helper()
	app, err := usecase.New(n.disk, n.views.Store(), usecase.Options{})
	if err != nil {
		n.Fatal(err)
	}
	return app
}

func (n *node) as(role identity.Role, name string) caller.Caller {
	return caller.Caller{Principal: identity.Principal{Workspace: identity.DefaultWorkspace, Role: role, Name: name}}
}

// run starts a server's part in alerts, with caches of its own; the function that it returns stops it.
func (n *node) run(sinks ...alerting.Sink) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	m := monitor.New(n.disk, n.views.Store(), monitor.Options{Log: quiet})
	a := alerting.New(n.useCases().Alerts, m, n.disk, n.views.Store(), alerting.Options{Log: quiet, Sinks: sinks})
	var running sync.WaitGroup
	running.Go(func() { m.Run(ctx) })
	running.Go(func() { a.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// fails has a handoff fail: its receiver rejects it.
func (n *node) fails() {
	n.Helper()
	r, err := n.app.Tasks.Create(n.Context(), n.as(identity.Agent, "lead"), &tasks.CreateInput{Intent: "pay", Send: &handoffs.SendInput{To: []string{"ann"}}})
	if err != nil {
		n.Fatal(err)
	}
	if _, err := n.app.Tasks.Reject(n.Context(), n.as(identity.Agent, "ann"), tasks.RejectInput{Handoff: r.Handoff, Reason: event.NotCapable}); err != nil {
		n.Fatal(err)
	}
}

// recorded lists the events of alerts in the record.
func (n *node) recorded() (names []string) {
	n.Helper()
	entries, err := n.disk.Read(n.Context(), 0, 10_000)
	if err != nil {
		n.Fatal(err)
	}
	for _, e := range entries {
		for _, ev := range e.Events {
			if name, ok := strings.CutPrefix(ev.Name, "alert-"); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// people is a sink that notes what it is told, and fails as often as it should.
type people struct {
	mu    sync.Mutex
	told  []string
	fails int
	most  int // messages, after which it hangs; 0: it never does
}

func (p *people) Name() string { return "people" }

func (p *people) Send(ctx context.Context, m notify.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails > 0 {
		p.fails--
		return errors.New("busy")
	}
	if p.most > 0 && len(p.told) == p.most {
		<-ctx.Done()
		return ctx.Err()
	}
	if a, ok := m.(notify.Alert); ok {
		p.told = append(p.told, a.Event+" "+a.Alert)
	}
	return nil
}

func (p *people) wants(t *testing.T, want ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Equal(p.told, want) {
		t.Errorf("told %q, want %q", p.told, want)
	}
}

func TestServersOnOneRecordRaiseAnAlertOnceAndItRecovers(t *testing.T) {
	for name, faults := range map[string]ledgertest.Faults{"a good ledger": {}, "one that lags": {Seed: 7, Conflicts: 0.3, Lag: 300 * time.Millisecond, Latency: 50 * time.Millisecond, Gaps: 3}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, faults, func(n *node) {
				p := &people{fails: 3}
				defer n.run(alerting.Sink{Sink: p})()
				defer n.run()()
				n.fails()
				time.Sleep(time.Minute)
				if got := n.recorded(); !slices.Equal(got, []string{"raised"}) {
					t.Errorf("recorded %q", got)
				}
				time.Sleep(3 * time.Minute)
				p.wants(n.T, "alert-raised handoff-failed")
				time.Sleep(10 * time.Minute)
				p.wants(n.T, "alert-raised handoff-failed", "alert-recovered handoff-failed")
				if got := n.recorded(); !slices.Equal(got, []string{"raised", "recovered"}) {
					t.Errorf("recorded %q", got)
				}
			})
		})
	}
}

func TestWhatCannotBeRecordedIsNotLost(t *testing.T) {
	bubble(t, ledgertest.Faults{}, func(n *node) {
		p := &people{}
		n.disk.full.Store(true)
		stop := n.run(alerting.Sink{Sink: p})
		n.fails()
		time.Sleep(20 * time.Minute) // longer than the window of the alert
		if got := n.recorded(); len(got) != 0 {
			t.Errorf("recorded %q", got)
		}
		stop() // and it ends
		n.disk.full.Store(false)
		defer n.run(alerting.Sink{Sink: p})()
		time.Sleep(time.Minute)
		p.wants(n.T, "alert-raised handoff-failed")
		time.Sleep(10 * time.Minute)
		p.wants(n.T, "alert-raised handoff-failed", "alert-recovered handoff-failed")
	})
}

func TestANewSinkIsNotifiedOfWhatIsRaisedAndOnlyOfWhatItWants(t *testing.T) {
	bubble(t, ledgertest.Faults{}, func(n *node) {
		stop := n.run()
		n.fails()
		time.Sleep(time.Minute)
		stop()
		p, severe := &people{}, &people{}
		stop = n.run(alerting.Sink{Sink: p})
		time.Sleep(time.Minute)
		p.wants(n.T, "alert-raised handoff-failed")
		stop()
		defer n.run(alerting.Sink{Sink: severe, Least: alert.Warning})()
		time.Sleep(time.Minute)
		severe.wants(n.T)
	})
}

func TestAStopInTheMiddleOfMessagesRepeatsNone(t *testing.T) {
	bubble(t, ledgertest.Faults{}, func(n *node) {
		p := &people{most: 1}
		stop := n.run(alerting.Sink{Sink: p})
		time.Sleep(time.Minute)
		stop()
		stop = n.run()
		n.fails()
		time.Sleep(20 * time.Minute)
		stop()
		stop = n.run(alerting.Sink{Sink: p})
		time.Sleep(time.Minute)
		stop()
		p.wants(n.T, "alert-raised handoff-failed")
		p.most = 0
		defer n.run(alerting.Sink{Sink: p})()
		time.Sleep(time.Minute)
		p.wants(n.T, "alert-raised handoff-failed", "alert-recovered handoff-failed")
	})
}
