package frontendtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Run runs the suite. open returns one more store of the record of a place; a place that was not named before has no record.
func Run(t *testing.T, open func(t *testing.T, place string) frontend.Store) {
	for name, test := range map[string]func(*testing.T, func(t *testing.T) *frontend.FrontEnd){
		"front ends have the key that the first has made":         secrets,
		"a key that cannot be made is an error":                   secretFails,
		"a cursor never goes back":                                cursors,
		"an agent that is heard of at one is known at the others": agents,
		"one has the turn, and another takes it when that ends":   turns,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, func(t *testing.T) *frontend.FrontEnd {
				f := frontend.New(open(t, name))
				t.Cleanup(f.Close)
				return f
			})
		})
	}
}

// Until waits for a condition.
func Until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never happens ", what)
		}
	}
}

func secrets(t *testing.T, open func(t *testing.T) *frontend.FrontEnd) {
	var fronts []*frontend.FrontEnd
	for range 4 {
		fronts = append(fronts, open(t))
	}
	for _, name := range []string{"k", "another key/of ours"} {
		got := make([]string, len(fronts))
		var all sync.WaitGroup
		for i, f := range fronts {
			all.Go(func() {
				var err error
				if got[i], err = f.Secret(t.Context(), name, func() (string, error) { return fmt.Sprint(name, " of ", i), nil }); err != nil {
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
}

func secretFails(t *testing.T, open func(t *testing.T) *frontend.FrontEnd) {
	f, broken := open(t), errors.New("no chance")
	if _, err := f.Secret(t.Context(), "k", func() (string, error) { return "", broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if key, err := f.Secret(t.Context(), "k", func() (string, error) { return "made", nil }); err != nil || key != "made" {
		t.Errorf("after that: %q, %v", key, err)
	}
}

func cursors(t *testing.T, open func(t *testing.T) *frontend.FrontEnd) {
	one, other := open(t), open(t)
	if at, err := other.Cursor(t.Context(), "c"); err != nil || at != 0 {
		t.Errorf("the cursor of one who never was there: %d, %v", at, err)
	}
	for _, to := range []ledger.Position{7, 3, 9, 8} {
		for _, f := range []*frontend.FrontEnd{one, other} {
			if err := f.RaiseCursor(t.Context(), "c", to); err != nil {
				t.Fatal(err)
			}
		}
	}
	Until(t, "that the cursor is where it was raised to", func() bool {
		at, err := other.Cursor(t.Context(), "c")
		return err == nil && at == 9
	})
	var all sync.WaitGroup
	for _, f := range []*frontend.FrontEnd{one, other} {
		all.Go(func() {
			for to := range ledger.Position(50) {
				if err := f.RaiseCursor(t.Context(), "both", to+1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	Until(t, "that the cursor is where both raised it to", func() bool {
		at, err := one.Cursor(t.Context(), "both")
		return err == nil && at == 50
	})
}

// Agents are the agents of one front end: a [frontend.Presence].
type Agents struct {
	mu    sync.Mutex
	news  map[string]time.Duration
	heard map[string]time.Duration
}

// Hear notes that an agent was heard of at this front end, so long ago.
func (a *Agents) Hear(agent string, age time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.news == nil {
		a.news = map[string]time.Duration{}
	}
	a.news[agent] = age
}

// News implements [frontend.Presence].
func (a *Agents) News() map[string]time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	news := a.news
	a.news = nil
	return news
}

// Learn implements [frontend.Presence].
func (a *Agents) Learn(heard map[string]time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.heard == nil {
		a.heard = map[string]time.Duration{}
	}
	for agent, age := range heard {
		a.heard[agent] = age
	}
}

// Knows reports whether an agent is known that was heard of at least so long ago.
func (a *Agents) Knows(agent string, atLeast time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	age, there := a.heard[agent]
	return there && age >= atLeast
}

// Share has a front end share what it knows until the function that is returned is called, and returns its agents.
func Share(t *testing.T, f *frontend.FrontEnd, report func(error)) (a *Agents, stop func()) {
	a = &Agents{}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		f.Share(ctx, a, report)
	})
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	return a, stop
}

func never(t *testing.T) func(error) {
	return func(err error) {
		if err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	}
}

func agents(t *testing.T, open func(t *testing.T) *frontend.FrontEnd) {
	one, _ := Share(t, open(t), never(t))
	other, _ := Share(t, open(t), never(t))
	one.Hear("w/ann", 3*time.Second)
	Until(t, "that ann is known", func() bool { return other.Knows("w/ann", 3*time.Second) })
	for n := range 2500 { // more than fit into one message
		one.Hear(fmt.Sprint("w/agent-", n), time.Second)
	}
	Until(t, "that all are known", func() bool {
		for n := range 2500 {
			if !other.Knows(fmt.Sprint("w/agent-", n), time.Second) {
				return false
			}
		}
		return true
	})
	late, _ := Share(t, open(t), never(t))
	Until(t, "that one who comes late knows ann", func() bool { return late.Knows("w/ann", 3*time.Second) })
}

func turns(t *testing.T, open func(t *testing.T) *frontend.FrontEnd) {
	fronts := []*frontend.FrontEnd{open(t), open(t), open(t)}
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
	Until(t, "that one has the turn", func() bool { return len(Holders(fronts)) == 1 })
	first := Holders(fronts)[0]
	stops[first]()
	Until(t, "that another has the turn", func() bool { has := Holders(fronts); return len(has) == 1 && has[0] != first })
}

// Holders lists the front ends that have the turn.
func Holders(fronts []*frontend.FrontEnd) (has []int) {
	for i, f := range fronts {
		if f.HasTurn() {
			has = append(has, i)
		}
	}
	return has
}
