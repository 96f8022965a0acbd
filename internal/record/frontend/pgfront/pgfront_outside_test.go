//go:build outside

package pgfront_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/frontend/frontendtest"
	"github.com/trapezehq/trapeze/internal/record/frontend/pgfront"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
)

func open(t *testing.T, s *pgtest.Server, schema string) *pgfront.Store {
	t.Helper()
	p, err := pgxpool.New(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Exec(t.Context(), "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
		t.Fatal(err)
	}
	f, err := pgfront.Open(t.Context(), p, schema)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestStorePassesTheSuite(t *testing.T) {
	s := pgtest.Start(t)
	schemas := map[string]string{}
	frontendtest.Run(t, func(t *testing.T, place string) frontend.Store {
		if schemas[place] == "" {
			schemas[place] = "test" + string(rune('a'+len(schemas)))
		}
		return open(t, s, schemas[place])
	})
}

func TestWhatIsHeardOfIsExchangedAgainAfterTheDatabaseWasGone(t *testing.T) {
	s := pgtest.Start(t)
	failed := make(chan error, 10)
	report := func(err error) { failed <- err }
	one, _ := frontendtest.Share(t, frontend.New(open(t, s, "test")), report)
	other, _ := frontendtest.Share(t, frontend.New(open(t, s, "test")), report)
	one.Hear("w/ann", 3*time.Second)
	frontendtest.Until(t, "that ann is known", func() bool { return other.Knows("w/ann", 3*time.Second) })
	s.Kill()
	if err := <-failed; err == nil {
		t.Error("nobody was told that the database is gone")
	}
	one.Hear("w/bob", time.Second)
	s.Run()
	frontendtest.Until(t, "that bob is known", func() bool { return other.Knows("w/bob", time.Second) })
}

func TestNobodyHasTheTurnWhileTheDatabaseIsGone(t *testing.T) {
	s := pgtest.Start(t)
	fronts := []*frontend.FrontEnd{frontend.New(open(t, s, "test")), frontend.New(open(t, s, "test"))}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for _, f := range fronts {
		running.Go(func() { f.TakeTurn(ctx) })
	}
	frontendtest.Until(t, "that one has the turn", func() bool { return len(frontendtest.Holders(fronts)) == 1 })
	s.Kill()
	frontendtest.Until(t, "that nobody has it", func() bool { return len(frontendtest.Holders(fronts)) == 0 })
	s.Run()
	frontendtest.Until(t, "that one has the turn again", func() bool { return len(frontendtest.Holders(fronts)) == 1 })
}

// A row whose new version is not in the indexes (HOT) costs a fraction.
func TestThatAnAgentWasHeardOfChangesNoIndex(t *testing.T) {
	s := pgtest.Start(t)
	c, err := pgx.Connect(t.Context(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	do := func(script string) {
		t.Helper()
		if _, err := c.Exec(t.Context(), script); err != nil {
			t.Fatal(err)
		}
	}
	open(t, s, "test").Close()
	do("CREATE INDEX IF NOT EXISTS heard_at ON test.heard(at)") // as earlier versions did
	f := open(t, s, "test")
	for _, age := range []time.Duration{2 * time.Second, time.Second} {
		if _, err := f.Exchange(t.Context(), map[string]time.Duration{"w/ann": age}, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	f.Close() // with which its sessions tell what they have counted
	frontendtest.Until(t, "that the server has counted the update", func() bool {
		var updates, hot int
		do("SELECT pg_stat_clear_snapshot()")
		if err := c.QueryRow(t.Context(), "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'heard'").Scan(&updates, &hot); err != nil {
			t.Fatal(err)
		}
		if updates > hot {
			t.Fatalf("%d of %d updates changed the indexes", updates-hot, updates)
		}
		return updates == 1
	})
}
