//go:build slow

package courier_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/delivery/courier"
	"github.com/trapezehq/trapeze/internal/delivery/notify"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// log is a ledger that notes from where it is followed, and can refuse appends to some streams.
type log struct {
	*ledgertest.Double
	mu       sync.Mutex
	followed []ledger.Position
	refuse   func(ledger.Stream) bool
	refused  int
	lacks    int  // reads that find nothing
	callers  bool // only they can write: the server ends before it has done what follows
}

func (l *log) Follow(ctx context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	l.mu.Lock()
	l.followed = append(l.followed, after)
	l.mu.Unlock()
	return l.Double.Follow(ctx, after, fn)
}

func (l *log) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	l.mu.Lock()
	no := l.refuse != nil && l.refuse(e.Stream) || l.callers && e.Actor.Principal == "system/courier"
	if no {
		l.refused++
	}
	l.mu.Unlock()
	if no {
		return 0, ledger.ErrUnavailable
	}
	return l.Double.Append(ctx, e, expect)
}

// deny refuses appends to streams; nil refuses none. It gives how many were refused until then.
func (l *log) deny(streams func(ledger.Stream) bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuse = streams
	return l.refused
}

// post is a ledger, its views, and the use cases over them. Couriers come and go.
type post struct {
	*testing.T
	app   *usecase.UseCases
	log   *log
	views *sqlview.Views
}

// bubble tells a story under a fake clock.
func bubble(t *testing.T, tell func(p *post)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &post{T: t, log: &log{Double: ledgertest.NewDouble(ledgertest.Faults{})}}
		var err error
		if p.views, err = sqlview.Follow(context.Background(), p.log.Double, ""); err != nil {
			t.Fatal(err)
		}
		if p.app, err = usecase.New(p.log, p.views.Store(), usecase.Options{}); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := errors.Join(p.views.Close(), p.log.Close()); err != nil {
				t.Error(err)
			}
		}()
		for _, name := range []string{"lead", "ann", "bob"} {
			in := agents.RegisterInput{Name: name}
			if _, err := p.app.Agents.Register(t.Context(), p.as(identity.Operator, "olga"), in); err != nil {
				t.Fatal(err)
			}
		}
		tell(p)
	})
}

// run starts a courier with sinks; the function that it returns stops it.
func (p *post) run(sinks ...notify.Sink) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	c := courier.New(p.app.FollowUp, p.log, p.views.Store(), courier.Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Sinks: sinks})
	done := make(chan struct{})
	go func() {
		c.Run(ctx)
		close(done)
	}()
	return func() {
		cancel()
		<-done
	}
}

func (p *post) as(role identity.Role, name string) caller.Caller {
	return caller.Caller{Principal: identity.Principal{Workspace: identity.DefaultWorkspace, Role: role, Name: name}}
}

// only sets whether nobody but callers can write.
func (l *log) only(callers bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.callers = callers
}

// delegate makes a task of the agent "lead" with a child for another agent, and gives the child's id.
func (p *post) delegate(to string) (child string) {
	p.Helper()
	r, err := p.app.Tasks.Create(p.Context(), p.as(identity.Agent, "lead"), &tasks.CreateInput{
		Intent: "lead", Start: true, Send: &handoffs.SendInput{To: []string{to}, Kind: event.Delegation},
	})
	if err != nil {
		p.Fatal(err)
	}
	return event.ChildID(r.Task, 0)
}

// abandon is delegate by a call that ends before it has made the child.
func (p *post) abandon(to string) (child string) {
	p.Helper()
	p.log.only(true)
	defer p.log.only(false)
	return p.delegate(to)
}

// there reports whether a task exists.
func (p *post) there(task string) bool {
	p.Helper()
	_, err := p.app.Tasks.Show(p.Context(), p.as(identity.Operator, "olga"), task)
	if err != nil && refusal.CodeOf(err) != refusal.NotFound {
		p.Fatal(err)
	}
	return err == nil
}

// count counts the entries of a task's stream that hold an event.
func (p *post) count(task, event string) (n int) {
	p.Helper()
	entries, err := p.log.Stream(p.Context(), ledger.StreamOf(identity.DefaultWorkspace, "task", task), 0, 1000)
	if err != nil {
		p.Fatal(err)
	}
	for _, e := range entries {
		for _, ev := range e.Events {
			if ev.Name == event {
				n++
			}
		}
	}
	return n
}

func TestACourierGoesOnWhereTheLastOneEnded(t *testing.T) {
	bubble(t, func(p *post) {
		stop := p.run()
		first := p.delegate("ann")
		time.Sleep(time.Minute)
		if !p.there(first) {
			p.Fatal("the child was not created")
		}
		time.Sleep(time.Second)
		reached, err := p.log.Last(p.Context())
		if err != nil {
			p.Fatal(err)
		}
		stop()
		second := p.abandon("bob") // while nobody is there
		time.Sleep(time.Hour)
		if p.there(second) {
			p.Fatal("a child was created by nobody")
		}
		defer p.run()()
		time.Sleep(time.Minute)
		if !p.there(second) {
			p.Error("what happened while no courier ran was not reacted to")
		}
		p.log.mu.Lock()
		defer p.log.mu.Unlock()
		if f := p.log.followed; len(f) != 2 || f[0] != 0 || f[1] != reached {
			p.Errorf("followed from %v; the first courier had come to %d", f, reached)
		}
	})
}

func TestAReactionThatFailsIsTriedAgainAndNotSkipped(t *testing.T) {
	bubble(t, func(p *post) {
		first, second := p.abandon("ann"), p.abandon("bob")
		p.log.deny(func(s ledger.Stream) bool { return s == ledger.StreamOf(identity.DefaultWorkspace, "task", first) })
		defer p.run()()
		time.Sleep(time.Minute)
		if p.there(first) || p.there(second) {
			p.Fatal("the second reaction happened before the first")
		}
		if tries := p.log.deny(nil); tries < 10 {
			p.Errorf("%d tries within a minute", tries)
		}
		time.Sleep(10 * time.Second)
		if !p.there(first) || !p.there(second) {
			p.Error("the reactions never happened")
		}
	})
}

func TestAClockFiresOnceWithAnyNumberOfWatchers(t *testing.T) {
	bubble(t, func(p *post) {
		defer p.run()()
		defer p.run()() // as on a second node
		none := 0
		r, err := p.app.Tasks.Create(p.Context(), p.as(identity.Agent, "lead"), &tasks.CreateInput{Intent: "anybody?", Send: &handoffs.SendInput{
			To: []string{"ann", "bob"}, Retries: &none, Timeouts: event.Timeouts{Offer: event.Duration(10 * time.Minute)},
		}})
		if err != nil {
			p.Fatal(err)
		}
		time.Sleep(10*time.Minute - time.Second)
		if n := p.count(r.Task, "offer-expired"); n != 0 {
			p.Errorf("%d clocks fired early", n)
		}
		time.Sleep(2 * time.Second)
		if n, offers := p.count(r.Task, "offer-expired"), p.count(r.Task, "handoff-offered"); n != 1 || offers != 2 {
			p.Errorf("the first clock fired %d times; %d offers", n, offers)
		}
		time.Sleep(10 * time.Minute)
		if n, parked := p.count(r.Task, "offer-expired"), p.count(r.Task, "task-parked"); n != 2 || parked != 1 {
			p.Errorf("both clocks fired %d times; parked %d times", n, parked)
		}
		time.Sleep(24 * time.Hour)
		if n := p.count(r.Task, "offer-expired"); n != 2 {
			p.Errorf("a day later they have fired %d times", n)
		}
	})
}

func TestAClockThatCannotTickIsTriedAgain(t *testing.T) {
	bubble(t, func(p *post) {
		defer p.run()()
		r, err := p.app.Tasks.Create(p.Context(), p.as(identity.Agent, "lead"), &tasks.CreateInput{Intent: "soon", Deadline: time.Now().Add(time.Minute)})
		if err != nil {
			p.Fatal(err)
		}
		p.log.deny(func(ledger.Stream) bool { return true })
		time.Sleep(10 * time.Minute)
		if n := p.log.deny(nil); n < 10 {
			p.Errorf("%d tries within ten minutes", n)
		}
		time.Sleep(time.Minute)
		if n := p.count(r.Task, "task-parked"); n != 1 {
			p.Errorf("parked %d times", n)
		}
	})
}

// hole is a ledger with an entry that cannot be read, alone or with its stream.
type hole struct {
	*log
	at ledger.Position
}

func (h hole) Follow(ctx context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	return h.log.Follow(ctx, after, func(list []ledger.Entry) error {
		for i := range list {
			if list[i].Position == h.at && after < h.at {
				if i > 0 {
					if err := fn(list[:i]); err != nil {
						return err
					}
				}
				return &ledger.Damaged{Position: h.at, Err: errors.New("its bytes")}
			}
		}
		return fn(list)
	})
}

func TestADamagedEntryDoesNotStopWhatFollowsFromOthers(t *testing.T) {
	bubble(t, func(p *post) {
		lost := p.abandon("ann")
		at, err := p.log.Last(p.Context())
		if err != nil {
			p.Fatal(err)
		}
		kept := p.abandon("bob")
		ctx, cancel := context.WithCancel(context.Background())
		c := courier.New(p.app.FollowUp, hole{p.log, at}, p.views.Store(), courier.Options{Log: slog.New(slog.DiscardHandler)})
		done := make(chan struct{})
		go func() {
			c.Run(ctx)
			close(done)
		}()
		time.Sleep(time.Minute)
		cancel()
		<-done
		if p.there(lost) || !p.there(kept) {
			p.Errorf("the child of the damaged entry: %v, that of the next: %v", p.there(lost), p.there(kept))
		}
	})
}
