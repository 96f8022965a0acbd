//go:build outside

package scenario

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
)

// TestOwnershipIsLinearizableInPostgreSQL has three nodes on two front ends, whose connections to the database are ended again and again.
func TestOwnershipIsLinearizableInPostgreSQL(t *testing.T) {
	s := pgtest.Start(t)
	openShared = func(t *testing.T) ledger.Ledger {
		var logs []ledger.Ledger
		for range 2 {
			l, err := pglog.Open(t.Context(), s.URL(), pglog.Options{})
			if err != nil {
				t.Fatal(err)
			}
			logs = append(logs, l)
		}
		return ledgertest.FrontEnds(logs...)
	}
	c := enter(t, shared, 1, bug{})
	defer c.harness.stop()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() { ended <- endSessions(ctx, t, s) }()
	c.fight(1+*seedFlag, contestOperations)
	cancel()
	n := <-ended
	c.judged(n)
}

// endSessions ends the connections of front ends, every now and then, until ctx ends. It returns their number.
func endSessions(ctx context.Context, t *testing.T, s *pgtest.Server) (n int) {
	conn, err := pgx.Connect(t.Context(), s.URL())
	if err != nil {
		t.Error(err)
		return 0
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return n
		case <-tick.C:
		}
		var ended int
		err := conn.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE application_name = 'trapeze' AND query LIKE '%entries%' AND random() < 0.3`).Scan(&ended)
		if n += ended; err != nil {
			t.Error(err)
			return n
		}
	}
}
