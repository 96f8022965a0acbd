//go:build outside

package pglog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
)

// admin returns a connection of an administrator of the database.
func admin(t testing.TB, s *pgtest.Server) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hangUp(c) })
	return c
}

func do(t testing.TB, c *pgx.Conn, script string) {
	t.Helper()
	if _, err := c.Exec(t.Context(), script); err != nil {
		t.Fatalf("%s: %v", script, err)
	}
}

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("it never came: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// waiting waits until so many sessions of front ends wait for an event, such as Lock.
func waiting(t testing.TB, c *pgx.Conn, event string, want int) (pid int) {
	t.Helper()
	until(t, "sessions that wait for "+event, func() bool {
		var n int
		err := c.QueryRow(t.Context(), `SELECT count(*), coalesce(max(pid), 0) FROM pg_stat_activity
			WHERE application_name = 'trapeze' AND (wait_event = $1 OR wait_event_type = $1)`, event).Scan(&n, &pid)
		if err != nil {
			t.Fatal(err)
		}
		return n == want
	})
	return pid
}

// load appends from a number of writers to two logs until it is stopped, and keeps what was acknowledged.
type load struct {
	mu    sync.Mutex
	acked map[string]ledger.Position // by key
	bad   map[string]int             // refusals by their text
	stop  chan struct{}
	all   sync.WaitGroup
}

func (d *load) write(t *testing.T, l *Log, stream ledger.Stream) {
	var expect ledger.Position
	for version := uint64(1); ; version++ {
		e := ledgertest.NewEntry(stream, version, "x")
		for {
			select {
			case <-d.stop:
				return
			default:
			}
			p, err := ledgertest.Put(t.Context(), l, e, expect)
			d.mu.Lock()
			if err == nil {
				d.acked[e.Key] = p
				d.mu.Unlock()
				expect = p
				break
			}
			d.bad[err.Error()]++
			d.mu.Unlock()
			if !errors.Is(err, ledger.ErrUnavailable) {
				t.Errorf("append: %v", err)
				return
			}
			<-time.After(5 * time.Millisecond) // before the next try
		}
	}
}

func (d *load) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.acked)
}

// TestNothingAcknowledgedIsLostWhenTheServerIsKilled kills the server, or all of its sessions, under load from two front ends.
func TestNothingAcknowledgedIsLostWhenTheServerIsKilled(t *testing.T) {
	s := pgtest.Start(t)
	underLoad(t, s.URL(), func(round int) (more bool) {
		switch round % 3 {
		case 0:
			s.Kill()
			s.Run()
		case 1:
			killSessions(t, s)
		case 2:
			s.Stop()
			s.Run()
		}
		return round < 5
	})
}

func TestASynchronousStandbyThatTakesOverHasWhatWasAcknowledged(t *testing.T) {
	s := pgtest.Start(t)
	standby := s.Standby()
	s.Configure("synchronous_standby_names = 'standby'")
	s.Reload()
	url := strings.Replace(s.URL(), s.Addr(), s.Addr()+","+standby.Addr(), 1)
	underLoad(t, url, func(int) bool {
		s.Kill()
		standby.Promote()
		return false
	})
}

// underLoad appends from two front ends while faults happen, one after the other while fault returns true, and then judges what is there.
func underLoad(t *testing.T, url string, fault func(round int) (more bool)) {
	logs := []*Log{open(t, url, Options{}), open(t, url, Options{})}
	d := &load{acked: map[string]ledger.Position{}, bad: map[string]int{}, stop: make(chan struct{})}
	for w := range 16 {
		d.all.Go(func() { d.write(t, logs[w%2], ledger.StreamOf("w", "task", fmt.Sprint(w))) })
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := make(chan ledger.Position, 1<<20)
	go func() {
		defer close(seen)
		err := logs[1].Follow(ctx, 0, func(batch []ledger.Entry) error {
			for _, e := range batch {
				seen <- e.Position
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("follow ended with %v", err)
		}
	}()
	more := true
	for round := 0; more; round++ {
		before := d.count()
		until(t, "appends that succeed", func() bool { return d.count() >= before+300 })
		more = fault(round)
	}
	before := d.count()
	until(t, "appends that succeed", func() bool { return d.count() >= before+300 })
	close(d.stop)
	d.all.Wait()
	until(t, "the follower", func() bool {
		last, err := logs[0].Last(t.Context())
		return err == nil && len(seen) == int(last) //nolint:gosec // small
	})
	cancel()
	judge(t, logs, d, seen)
}

// killSessions kills the processes that serve the front ends. The server then ends all others, and recovers.
func killSessions(t *testing.T, s *pgtest.Server) {
	var pids []int
	err := admin(t, s).QueryRow(t.Context(), "SELECT array_agg(pid) FROM pg_stat_activity WHERE application_name = 'trapeze'").Scan(&pids)
	if err != nil || len(pids) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

// judge compares what both front ends read with what was acknowledged and followed.
func judge(t *testing.T, logs []*Log, d *load, seen chan ledger.Position) {
	first, err := logs[0].Read(t.Context(), 0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	second, err := logs[1].Read(t.Context(), 0, 1<<20)
	if err != nil || fmt.Sprint(first) != fmt.Sprint(second) {
		t.Errorf("the front ends have different records: %v", err)
	}
	at, versions := map[string]ledger.Position{}, map[ledger.Stream]uint64{}
	for i, e := range first {
		if e.Position != ledger.Position(i+1) || at[e.Key] != 0 || e.Version != versions[e.Stream]+1 { //nolint:gosec // small
			t.Errorf("at place %d is %v, with the key %s of %d", i+1, e, e.Key, at[e.Key])
		}
		at[e.Key], versions[e.Stream] = e.Position, e.Version
		if p := <-seen; p != e.Position {
			t.Errorf("the follower saw %d in the place of %d", p, e.Position)
		}
	}
	for key, p := range d.acked {
		if at[key] != p {
			t.Errorf("%s was acknowledged at %d and is at %d", key, p, at[key])
		}
	}
	t.Logf("%d entries, %d acknowledged; refusals: %d of %d kinds", len(first), len(d.acked), total(d.bad), len(d.bad))
	for text := range maps.Keys(d.bad) {
		if strings.Contains(text, pgtest.Password) {
			t.Errorf("an error has the password: %s", text)
		}
	}
}

func total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

func TestAnAppendSurvivesARestartWhileNobodyWrote(t *testing.T) {
	s := pgtest.Start(t)
	l := open(t, s.URL(), Options{})
	p, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/a", 1, "x"), 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
	s.Run()
	if got, err := l.Stream(t.Context(), "w/task/a", 0, 10); err != nil || len(got) != 1 {
		t.Errorf("%d entries, %v", len(got), err)
	}
	if _, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/a", 2, "x"), p); err != nil {
		t.Error(err)
	}
	s.Stop()
	if _, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/b", 1, "x"), 0); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("without a server: %v", err)
	}
	if _, err := l.Stream(t.Context(), "w/task/a", 0, 10); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("without a server: %v", err)
	}
	if err := l.Err(); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("Err is %v without a server", err)
	}
	s.Run()
	until(t, "that the log notices that the server is back", func() bool { return l.Err() == nil })
}

func TestAppendsThatWaitShareATransaction(t *testing.T) {
	s := pgtest.Start(t)
	var commits []int
	l := open(t, s.URL(), Options{Committed: func(n int, _ time.Duration) { commits = append(commits, n) }})
	c := admin(t, s)
	do(t, c, "BEGIN; SELECT * FROM trapeze.record FOR UPDATE")
	var all sync.WaitGroup
	put := func(i int) {
		all.Go(func() {
			if _, err := l.Append(t.Context(), ledgertest.NewEntry(ledger.StreamOf("w", "task", fmt.Sprint(i)), 1, "x"), 0); err != nil {
				t.Error(err)
			}
		})
	}
	put(0)
	waiting(t, admin(t, s), "Lock", 1)
	for i := range 50 {
		put(i + 1)
	}
	until(t, "the queue", func() bool {
		l.queue.mu.Lock()
		defer l.queue.mu.Unlock()
		return len(l.queue.appends) == 50
	})
	do(t, c, "COMMIT")
	all.Wait()
	if fmt.Sprint(commits) != "[1 50]" {
		t.Errorf("commits of %v entries, want 1 and 50", commits)
	}
}

// A front end that stops between the two round trips keeps the lock: the server ends its transaction.
func TestAFrontEndThatStopsDoesNotStopTheOthers(t *testing.T) {
	s := pgtest.Start(t)
	l, other := open(t, s.URL(), Options{}), open(t, s.URL(), Options{})
	r, err := newRequest(ledgertest.NewEntry("w/task/a", 1, "stopped"), 0)
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(l, l.config)
	defer w.drop()
	p, err := w.plan(t.Context(), []*request{r})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Append(t.Context(), ledgertest.NewEntry("w/task/b", 1, "x"), 0); err != nil {
		t.Errorf("while another front end has the lock: %v", err)
	}
	if err := w.commit(t.Context(), p); err == nil {
		t.Error("the stopped front end has committed")
	}
	if got, err := other.Read(t.Context(), 0, 10); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// A commit that waits for a synchronous standby, and is told to wait no longer, may be lost with this server.
func TestACommitWithoutItsStandbyIsNotAcknowledged(t *testing.T) {
	s := pgtest.Start(t)
	l := open(t, s.URL(), Options{})
	c := admin(t, s)
	s.Configure("synchronous_standby_names = 'absent'")
	s.Reload()
	ended := make(chan error, 1)
	go func() {
		_, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/a", 1, "x"), 0)
		ended <- err
	}()
	pid := waiting(t, c, "SyncRep", 1)
	impatient, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := l.Append(impatient, ledgertest.NewEntry("w/task/b", 1, "x"), 0); !errors.Is(err, ledger.ErrUnknown) {
		t.Errorf("an append behind it: %v", err)
	}
	select {
	case err := <-ended:
		t.Fatalf("answered without the standby: %v", err)
	default:
	}
	do(t, c, fmt.Sprintf("SELECT pg_cancel_backend(%d)", pid))
	if err := <-ended; !errors.Is(err, ledger.ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
	s.Configure("synchronous_standby_names = ''")
	s.Reload()
	if _, err := ledgertest.Put(t.Context(), l, ledgertest.NewEntry("w/task/c", 1, "x"), 0); err != nil {
		t.Errorf("with no standby to wait for: %v", err)
	}
}
