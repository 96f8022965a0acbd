//go:build outside

package scenario

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
	"github.com/trapezehq/trapeze/internal/server"
)

var engineFlag = flag.String("engine", "", "where the records of stories are: postgres or jetstream; empty: on the ledgers that need nothing else")

func init() { startEngine = startEngineOfFlag }

// startEngineOfFlag starts one server, or one cluster, for the stories of the whole run. Each record has a schema or a stream of its own.
func startEngineOfFlag() (stop func(), err error) {
	if *engineFlag == "" {
		return func() {}, nil
	}
	if err := skipOutside(); err != nil {
		return nil, err
	}
	run := &wholeRun{}
	stop = run.end
	var open func(ctx context.Context, name string) (ledger.Ledger, error)
	forget := func(context.Context, string) error { return nil }
	switch *engineFlag {
	case "postgres":
		db := pgtest.Start(run, "max_connections = 200")
		recordOf, rigRecord = databases(db)
		open = func(ctx context.Context, name string) (ledger.Ledger, error) {
			return pglog.Open(ctx, db.URL(), pglog.Options{Schema: name})
		}
	case "jetstream":
		c := natstest.Start(run, 3)
		conn := c.Connect(run, 0)
		recordOf, rigRecord = streams(c)
		open = func(ctx context.Context, name string) (ledger.Ledger, error) {
			return natslog.Open(ctx, conn, natslog.Options{Name: strings.ToUpper(name), Synced: true})
		}
		forget = func(ctx context.Context, name string) error {
			js, err := jetstream.New(conn)
			if err != nil {
				return err
			}
			return js.DeleteStream(ctx, strings.ToUpper(name))
		}
	default:
		return nil, fmt.Errorf("-engine %s: want postgres or jetstream", *engineFlag)
	}
	ledgers = []string{*engineFlag}
	records := map[string]string{}
	var mu sync.Mutex
	shore := newShore()
	openAt = func(place string) (ledger.Ledger, error) {
		mu.Lock()
		if records[place] == "" {
			records[place] = fmt.Sprintf("story%d", len(records)+1)
		}
		name, old := records[place], fmt.Sprintf("story%d", len(records)-kept)
		mu.Unlock()
		a := &ashore{shore: shore, changed: make(chan struct{})}
		var err error
		shore.do(func() {
			_ = forget(context.Background(), old) // of a test that has ended: the cluster has fewer replicas to keep
			a.ledger, err = open(context.Background(), name)
		})
		return a, err
	}
	return stop, nil
}

// kept is how many records are kept, the newest ones: a test that opens one again has opened fewer meanwhile.
const kept = 20

// skipOutside leaves out the tests that start engines of their own.
func skipOutside() error {
	files, err := filepath.Glob("*_outside_test.go")
	if err != nil {
		return err
	}
	var names []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return flag.Set("test.skip", "^("+strings.Join(names, "|")+")$")
}

// databases gives the server of each data directory a database.
func databases(db *pgtest.Server) (of func(testing.TB, string) server.Place, env func(testing.TB, string) []string) {
	var mu sync.Mutex
	made := map[string]string{}
	url := func(t testing.TB, dir string) string {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if made[dir] == "" {
			name := fmt.Sprintf("server%d", len(made)+1)
			c, err := pgx.Connect(t.Context(), db.URL())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
			if _, err := c.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
				t.Fatal(err)
			}
			made[dir] = strings.Replace(db.URL(), "/postgres?", "/"+name+"?", 1)
		}
		return made[dir]
	}
	return func(t testing.TB, dir string) server.Place { return server.Place{Postgres: url(t, dir)} },
		func(t testing.TB, dir string) []string { return []string{childPostgres + "=" + url(t, dir)} }
}

// streams has the server of one data directory at a time keep its record in a cluster, from which that of the one before is gone.
func streams(c *natstest.Cluster) (of func(testing.TB, string) server.Place, env func(testing.TB, string) []string) {
	var one sync.Mutex
	var mu sync.Mutex
	var is string
	conn := c.Connect(&wholeRun{}, 0)
	use := func(t testing.TB, dir string) {
		t.Helper()
		mu.Lock()
		same := dir == is
		mu.Unlock()
		if same {
			return
		}
		one.Lock()
		t.Cleanup(one.Unlock)
		mu.Lock()
		is = dir
		mu.Unlock()
		js, err := jetstream.New(conn)
		if err != nil {
			t.Fatal(err)
		}
		err = natslog.WhenReady(t.Context(), 0, func(ctx context.Context) error { // it may have just started
			names := js.StreamNames(ctx)
			for name := range names.Name() {
				if !strings.HasPrefix(name, storyPrefix) {
					if err := js.DeleteStream(ctx, name); err != nil {
						return err
					}
				}
			}
			return names.Err()
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return func(t testing.TB, dir string) server.Place {
			use(t, dir)
			return server.Place{NATS: server.NATS{URL: c.Nodes[0].URL(), Synced: true}}
		}, func(t testing.TB, dir string) []string {
			use(t, dir)
			return []string{childNATS + "=" + c.Nodes[0].URL()}
		}
}

// storyPrefix is that of the names of the streams of stories, in upper case.
const storyPrefix = "STORY"

// shore is goroutines that are in no bubble of package synctest. What they do for one that is takes no time there: a goroutine that waits for them keeps
// the clock of its bubble from moving.
type shore struct{ free chan *hand }

type hand struct {
	work, done chan struct{}
	what       func()
}

func newShore() *shore {
	const hands = 256
	s := &shore{free: make(chan *hand, hands)}
	for range hands {
		h := &hand{work: make(chan struct{}), done: make(chan struct{})}
		go func() {
			for range h.work {
				h.what()
				h.what = nil
				h.done <- struct{}{}
			}
		}()
		s.free <- h
	}
	return s
}

func (s *shore) do(what func()) {
	h := <-s.free
	h.what = what
	h.work <- struct{}{}
	<-h.done
	s.free <- h
}

// ashore is a ledger that waits for a network, for those who are in a bubble. Nobody else appends to its record.
type ashore struct {
	shore  *shore
	ledger ledger.Ledger

	mu      sync.Mutex
	changed chan struct{} // closed after an append
	closed  bool
}

// Append implements [ledger.Ledger]. It is not interrupted: by the clock of the caller it takes no time.
func (a *ashore) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (p ledger.Position, err error) {
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("%w: %w", ledger.ErrUnknown, err)
	}
	ashore := context.Background() // of what ctx has, a ledger asks for two things
	if ledger.IsForRead(ctx) {
		ashore = ledger.ForRead(ashore)
	}
	defer ledger.Pause(ctx)()
	a.shore.do(func() { p, err = a.ledger.Append(ashore, e, expect) })
	a.wake(false)
	return p, err
}

func (a *ashore) wake(closed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = a.closed || closed
	close(a.changed)
	a.changed = make(chan struct{})
}

// Stream implements [ledger.Ledger].
func (a *ashore) Stream(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) (list []ledger.Entry, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a.shore.do(func() { list, err = a.ledger.Stream(context.Background(), s, after, limit) })
	return list, err
}

// Read implements [ledger.Ledger].
func (a *ashore) Read(ctx context.Context, after ledger.Position, limit int) (list []ledger.Entry, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a.shore.do(func() { list, err = a.ledger.Read(context.Background(), after, limit) })
	return list, err
}

// Last implements [ledger.Ledger].
func (a *ashore) Last(ctx context.Context) (p ledger.Position, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	a.shore.do(func() { p, err = a.ledger.Last(context.Background()) })
	return p, err
}

// Follow implements [ledger.Ledger]. It follows by the Follow of the ledger, up to its last entry, and then waits in the bubble for an append.
func (a *ashore) Follow(ctx context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	for {
		a.mu.Lock()
		changed, closed := a.changed, a.closed
		a.mu.Unlock()
		if closed {
			return fmt.Errorf("%w: closed", ledger.ErrUnavailable)
		}
		last, err := a.Last(ctx)
		for err == nil && after < last {
			var list []ledger.Entry
			if list, err = a.next(after); err == nil {
				if err = fn(list); err == nil {
					after = list[len(list)-1].Position
				}
			}
		}
		if err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var errBatch = errors.New("one batch")

// next returns the next batch that the ledger gives to its followers.
func (a *ashore) next(after ledger.Position) (list []ledger.Entry, err error) {
	a.shore.do(func() {
		err = a.ledger.Follow(context.Background(), after, func(batch []ledger.Entry) error {
			list = append(list, batch...)
			return errBatch
		})
	})
	if errors.Is(err, errBatch) {
		return list, nil
	}
	return nil, err
}

// Err implements [ledger.Ledger].
func (a *ashore) Err() error { return a.ledger.Err() }

// Close implements [ledger.Ledger].
func (a *ashore) Close() (err error) {
	a.shore.do(func() { err = a.ledger.Close() })
	a.wake(true)
	return err
}

// wholeRun is the run of all tests, for what starts with it and ends with it.
type wholeRun struct {
	testing.TB // nil: those of its methods that a test's servers need are here

	ends   []func()
	failed bool
}

func (r *wholeRun) Helper()                           {}
func (r *wholeRun) Context() context.Context          { return context.Background() }
func (r *wholeRun) Cleanup(end func())                { r.ends = append(r.ends, end) }
func (r *wholeRun) Failed() bool                      { return r.failed }
func (r *wholeRun) Logf(format string, args ...any)   { fmt.Fprintf(os.Stderr, format+"\n", args...) }
func (r *wholeRun) Errorf(format string, args ...any) { r.Logf(format, args...); r.failed = true }
func (r *wholeRun) Error(args ...any)                 { r.Errorf("%s", fmt.Sprint(args...)) }
func (r *wholeRun) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (r *wholeRun) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (r *wholeRun) FailNow()                          { panic("the engine does not start") }

func (r *wholeRun) TempDir() string {
	dir, err := os.MkdirTemp("", "engine")
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (r *wholeRun) end() {
	for i := len(r.ends) - 1; i >= 0; i-- {
		r.ends[i]()
	}
}
