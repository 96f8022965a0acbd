//go:build outside

package pglog

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
)

// counting starts a server that counts its statements.
func counting(t *testing.T) (*pgtest.Server, *pgx.Conn) {
	t.Helper()
	s := pgtest.Start(t, "shared_preload_libraries = 'pg_stat_statements'")
	c := admin(t, s)
	do(t, c, "CREATE EXTENSION pg_stat_statements")
	return s, c
}

// calls is how often statements were executed that match a regular expression.
func calls(t *testing.T, c *pgx.Conn, statements string) (n int) {
	t.Helper()
	if err := c.QueryRow(t.Context(), "SELECT coalesce(sum(calls), 0)::int FROM pg_stat_statements WHERE query ~ $1", statements).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// together appends entries of as many streams in two transactions: the first, and all others.
func together(t *testing.T, s *pgtest.Server, l *Log, name string, n int) {
	t.Helper()
	c := admin(t, s)
	do(t, c, "BEGIN; SELECT * FROM trapeze.record FOR UPDATE")
	var all sync.WaitGroup
	put := func(i int) {
		all.Go(func() {
			if _, err := l.Append(t.Context(), ledgertest.NewEntry(ledger.StreamOf("w", "task", fmt.Sprint(name, i)), 1, "x"), 0); err != nil {
				t.Error(err)
			}
		})
	}
	put(0)
	waiting(t, admin(t, s), "Lock", 1)
	for i := range n - 1 {
		put(i + 1)
	}
	until(t, "the queue", func() bool {
		l.queue.mu.Lock()
		defer l.queue.mu.Unlock()
		return len(l.queue.appends) == n-1
	})
	do(t, c, "COMMIT")
	all.Wait()
}

func TestAFrontEndThatGetsManyEntriesAtOnceHearsNoNotificationsUntilItGetsFew(t *testing.T) {
	s, c := counting(t)
	o := Options{Poll: time.Hour}
	one, other := open(t, s.URL(), o), open(t, s.URL(), o)
	until(t, "that both listen", func() bool { return calls(t, c, "^LISTEN") == 2 })
	together(t, s, one, "a", 2*busyRound)
	until(t, "that both stop to listen", func() bool { return calls(t, c, "^UNLISTEN") == 2 })
	until(t, "that both listen again", func() bool { return calls(t, c, "^LISTEN") == 4 })
	p, err := one.Append(t.Context(), ledgertest.NewEntry("w/task/b", 1, "x"), 0)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "that both are told of the next one", func() bool { return one.tail.Position() == p && other.tail.Position() == p })
}

func TestTheListenerAsksOnceForTheEndOfTheRecordAndWhatIsNew(t *testing.T) {
	s, c := counting(t)
	l := open(t, s.URL(), Options{})
	together(t, s, l, "a", 300)
	until(t, "the entries", func() bool { return l.tail.Position() == 300 })
	until(t, "as many looks at the entries as at the end, and one when the record was opened", func() bool {
		return calls(t, c, "^SELECT format.* FROM trapeze.record$") == calls(t, c, "^SELECT position.* WHERE position >")+1
	})
}
