package frontend_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// place is what front ends share, in memory.
type place struct {
	frontend.Store
	turn    chan struct{}
	mu      sync.Mutex
	cursors map[string]ledger.Position
	away    error // of what front ends tell each other
}

func newPlace() *place {
	return &place{turn: make(chan struct{}, 1), cursors: map[string]ledger.Position{}}
}

func (p *place) Cursor(_ context.Context, name string) (ledger.Position, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cursors[name], nil
}

func (p *place) SaveCursor(context.Context, string, ledger.Position) error { return nil }

func (p *place) RaiseCursor(ctx context.Context, name string, at ledger.Position) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cursors[name] = max(p.cursors[name], at)
	return ctx.Err()
}

func (p *place) HoldTurn(ctx context.Context, taken func()) error {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.turn }()
	taken()
	<-ctx.Done()
	return ctx.Err()
}

func (p *place) Close() {}

func (p *place) Others() frontend.Others { return p }

func (p *place) Drain(context.Context, string, bool) error { return nil }

func (p *place) Forget(context.Context, string) error { return nil }

func (p *place) Meet(context.Context, frontend.Member) ([]frontend.Seen, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return nil, false, p.away
}

// own are the views of a front end, which has just begun: they have no cursors.
type own struct{}

func (own) Cursor(context.Context, string) (ledger.Position, error) { return 0, nil }

func (own) SaveCursor(context.Context, string, ledger.Position) error { return nil }

// work takes the turn, and does while it has it what takes a second for each of ten, and a second more when it is stopped. It returns what was done.
func work(ctx context.Context, f *frontend.FrontEnd, running *sync.WaitGroup) (done *[]ledger.Position) {
	done = new([]ledger.Position)
	cursors := f.Cursors(own{})
	running.Go(func() { f.TakeTurn(ctx) })
	running.Go(func() {
		f.Alone(ctx, func(ctx context.Context) {
			at, _ := cursors.Cursor(ctx, "f") // it is in memory
			for at < 10 && ctx.Err() == nil {
				time.Sleep(time.Second)
				at++
				*done = append(*done, at)
				_ = cursors.SaveCursor(context.WithoutCancel(ctx), "f", at) // it is in memory
			}
			<-ctx.Done()
		})
	})
	return done
}

func TestTheNextFrontEndThatHasTheTurnRepeatsNothing(t *testing.T) {
	for name, give := range map[string]func(f *frontend.FrontEnd, stop func()){
		"stopped": func(_ *frontend.FrontEnd, stop func()) { stop() },
		"paused":  func(f *frontend.FrontEnd, _ func()) { f.Pause(true) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shared := newPlace()
				one, other := frontend.New(shared), frontend.New(shared)
				ctx, end := context.WithCancel(t.Context())
				first, stop := context.WithCancel(ctx)
				defer stop()
				var running sync.WaitGroup
				did := work(first, one, &running)
				time.Sleep(3500 * time.Millisecond)
				then := work(ctx, other, &running)
				give(one, stop)
				time.Sleep(time.Minute)
				end()
				running.Wait()
				if n := len(*did); n != 4 || len(*then) != 6 || (*then)[0] != 5 {
					t.Errorf("one did %d, the other %d", *did, *then)
				}
			})
		})
	}
}

func TestAFrontEndThatEndsSharesWhatItSaved(t *testing.T) {
	shared := newPlace()
	f := frontend.New(shared)
	if err := f.Cursors(own{}).SaveCursor(t.Context(), "courier", 7); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if at, err := shared.Cursor(t.Context(), "courier"); at != 7 || err != nil {
		t.Errorf("shared: %d, %v", at, err)
	}
}

// A front end that has just started, or was cut off from what keeps the record, begins to listen: what it has not heard of may still be there.
func TestAFrontEndListensAgainAfterItWasCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := newPlace()
		f := frontend.New(shared)
		if d := f.Listens(); d != 0 {
			t.Errorf("one that was not started has listened for %s", d)
		}
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { f.Meet(ctx, func(context.Context) frontend.Member { return frontend.Member{} }, func(bool) {}) })
		for _, step := range []struct {
			away   error
			passes time.Duration
			want   time.Duration
		}{
			{nil, 1500 * time.Millisecond, 1500 * time.Millisecond},
			{nil, 30 * time.Second, 31500 * time.Millisecond},
			{context.DeadlineExceeded, 5 * time.Second, 36500 * time.Millisecond}, // an election takes as long
			{nil, 10 * time.Second, 46500 * time.Millisecond},
			{context.DeadlineExceeded, 30 * time.Second, 0},
			{nil, 2 * time.Second, 1500 * time.Millisecond},
		} {
			shared.mu.Lock()
			shared.away = step.away
			shared.mu.Unlock()
			time.Sleep(step.passes)
			if d := f.Listens(); d != step.want {
				t.Errorf("after %s with %v it has listened for %s, not %s", step.passes, step.away, d, step.want)
			}
		}
		end()
		running.Wait()
	})
}
