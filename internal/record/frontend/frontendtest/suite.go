package frontendtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
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
		"one that is paused gives up the turn":                    pauses,
		"front ends know each other":                              meets,
		"one is asked to take no new work":                        drains,
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
	first := Holder(t, fronts, -1)
	stops[first]()
	Holder(t, fronts, first)
}

// Holder waits until one front end alone has the turn, other than one of before, and returns which.
func Holder(t *testing.T, fronts []*frontend.FrontEnd, but int) (which int) {
	t.Helper()
	Until(t, fmt.Sprintf("that one has the turn, and not %d", but), func() bool {
		has := Holders(fronts)
		if len(has) != 1 || has[0] == but {
			return false
		}
		which = has[0]
		return true
	})
	return which
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

func pauses(t *testing.T, open func(t *testing.T) *frontend.FrontEnd) {
	fronts := []*frontend.FrontEnd{open(t), open(t)}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for _, f := range fronts {
		running.Go(func() { f.TakeTurn(ctx) })
	}
	for range 2 {
		first := Holder(t, fronts, -1)
		fronts[first].Pause(true)
		Holder(t, fronts, first)
		fronts[first].Pause(false)
	}
}

// Present has a front end tell of itself until the function that is returned is called, and returns whether it is to be drained.
func Present(t *testing.T, f *frontend.FrontEnd, m frontend.Member) (drained *atomic.Bool, stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	drained = &atomic.Bool{}
	var running sync.WaitGroup
	running.Go(func() { f.Meet(ctx, func(context.Context) frontend.Member { return m }, drained.Store) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	return drained, stop
}

// knows returns what a front end knows of another; false: nothing.
func knows(f *frontend.FrontEnd, name string) (frontend.Seen, bool) {
	for _, m := range f.Members() {
		if m.Name == name {
			return m, true
		}
	}
	return frontend.Seen{}, false
}

func meets(t *testing.T, open func(t *testing.T) *frontend.FrontEnd) {
	fronts := []*frontend.FrontEnd{open(t), open(t), open(t)}
	all := []frontend.Member{
		{Name: "ann", URL: "http://a", Version: "1.2.3", Viewed: 7, Last: 9, Behind: 2 * time.Second, Turn: true},
		{Name: "bob-1", URL: "http://b", Drained: true, Trouble: "it is tired"},
		{Name: "cid.x", URL: "http://c"},
	}
	var stops []func()
	for i, f := range fronts {
		_, stop := Present(t, f, all[i])
		stops = append(stops, stop)
	}
	for _, f := range fronts {
		Until(t, "that each knows all", func() bool { return len(f.Members()) == len(all) })
		for i, m := range f.Members() {
			if m.Member != all[i] {
				t.Errorf("%+v, want %+v", m.Member, all[i])
			}
		}
	}
	stops[1]()
	late := open(t)
	Present(t, late, frontend.Member{Name: "dan"})
	for _, f := range []*frontend.FrontEnd{fronts[0], late} {
		Until(t, "that one who is silent is known by its silence, and one who is there is not", func() bool { // in one look: on a busy machine each may be late
			bob, ok := knows(f, "bob-1")
			ann, there := knows(f, "ann")
			return ok && there && bob.Ago > 3*frontend.Every && ann.Ago < 3*frontend.Every
		})
	}
	if err := late.Others().Forget(t.Context(), "bob-1"); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*frontend.FrontEnd{fronts[0], late} {
		Until(t, "that it is forgotten", func() bool { _, ok := knows(f, "bob-1"); return !ok })
	}
}

func drains(t *testing.T, open func(t *testing.T) *frontend.FrontEnd) {
	one, other := open(t), open(t)
	ann, stop := Present(t, one, frontend.Member{Name: "ann"})
	bob, _ := Present(t, other, frontend.Member{Name: "bob"})
	Until(t, "that they know each other", func() bool { return len(one.Members()) == 2 && len(other.Members()) == 2 })
	ask := func(name string, on bool) {
		if err := other.Others().Drain(t.Context(), name, on); err != nil {
			t.Fatal(err)
		}
	}
	ask("ann", true)
	Until(t, "that ann is drained", ann.Load)
	if bob.Load() {
		t.Error("the other one is drained, too")
	}
	ask("ann", false)
	Until(t, "that ann takes work again", func() bool { return !ann.Load() })
	ask("bob", true) // itself
	Until(t, "that bob is drained", bob.Load)
	ask("ann", true)
	Until(t, "that ann is drained", ann.Load)
	stop()
	again := open(t)
	ann, _ = Present(t, again, frontend.Member{Name: "ann"}) // as after a restart
	Until(t, "that ann is there", func() bool {
		m, ok := knows(again, "ann")
		return ok && m.Ago < frontend.Every && len(again.Members()) == 2
	})
	Until(t, "that ann takes work", func() bool { return !ann.Load() })
}
