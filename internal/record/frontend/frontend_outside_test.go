//go:build outside

package frontend_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
)

func open(t *testing.T, s *pgtest.Server) *frontend.FrontEnd {
	t.Helper()
	p, err := pgxpool.New(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if _, err := p.Exec(t.Context(), "CREATE SCHEMA IF NOT EXISTS test"); err != nil {
		t.Fatal(err)
	}
	f, err := frontend.Open(t.Context(), p, "test")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFrontEndsHaveTheKeyThatTheFirstHasMade(t *testing.T) {
	s := pgtest.Start(t)
	var fronts []*frontend.FrontEnd
	for range 4 {
		fronts = append(fronts, open(t, s))
	}
	got := make([]string, len(fronts))
	var all sync.WaitGroup
	for i, f := range fronts {
		all.Go(func() {
			var err error
			if got[i], err = f.Secret(t.Context(), "k", func() (string, error) { return fmt.Sprint("key of ", i), nil }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, key := range got {
		if key == "" || key != got[0] {
			t.Fatalf("the keys are %q", got)
		}
	}
}

// agents are the agents of one front end.
type agents struct {
	mu    sync.Mutex
	news  map[string]time.Duration
	heard map[string]time.Duration
}

func (a *agents) News() map[string]time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	news := a.news
	a.news = nil
	return news
}

func (a *agents) Learn(heard map[string]time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for agent, age := range heard {
		a.heard[agent] = age
	}
}

func (a *agents) age(agent string) (time.Duration, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	age, there := a.heard[agent]
	return age, there
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never happens ", what)
		}
	}
}

func TestWhatIsHeardOfAtOneFrontEndIsKnownAtTheOthersAlsoAfterTheDatabaseWasGone(t *testing.T) {
	s := pgtest.Start(t)
	one, other := &agents{heard: map[string]time.Duration{}}, &agents{heard: map[string]time.Duration{}}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	failed := make(chan error, 10)
	for _, a := range []*agents{one, other} {
		f := open(t, s)
		running.Go(func() {
			f.Share(ctx, a, func(err error) { failed <- err })
		})
	}
	one.news = map[string]time.Duration{"w/ann": 3 * time.Second}
	until(t, "that ann is known", func() bool { age, there := other.age("w/ann"); return there && age >= 3*time.Second })
	s.Kill()
	if err := <-failed; err == nil {
		t.Error("nobody was told that the database is gone")
	}
	one.mu.Lock()
	one.news = map[string]time.Duration{"w/bob": time.Second}
	one.mu.Unlock()
	s.Run()
	until(t, "that bob is known", func() bool { age, there := other.age("w/bob"); return there && age >= time.Second })
}

func TestOneFrontEndHasTheTurnAndAnotherTakesItWhenThatEnds(t *testing.T) {
	s := pgtest.Start(t)
	fronts := []*frontend.FrontEnd{open(t, s), open(t, s), open(t, s)}
	var running sync.WaitGroup
	var stops []context.CancelFunc
	defer func() {
		for _, stop := range stops {
			stop()
		}
		running.Wait()
	}()
	for _, f := range fronts {
		ctx, stop := context.WithCancel(t.Context())
		stops = append(stops, stop)
		running.Go(func() { f.TakeTurn(ctx) })
	}
	holders := func() (has []int) {
		for i, f := range fronts {
			if f.HasTurn() {
				has = append(has, i)
			}
		}
		return has
	}
	until(t, "that one has the turn", func() bool { return len(holders()) == 1 })
	first := holders()[0]
	stops[first]()
	until(t, "that another has the turn", func() bool { has := holders(); return len(has) == 1 && has[0] != first })
	s.Kill()
	until(t, "that nobody has it", func() bool { return len(holders()) == 0 })
	s.Run()
	until(t, "that one has the turn again", func() bool { return len(holders()) == 1 })
}
