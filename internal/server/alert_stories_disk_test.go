package server

import (
	"context"
	"log/slog"
	"sync"

	"github.com/trapezehq/trapeze/internal/delivery/alerting"
	"github.com/trapezehq/trapeze/internal/delivery/monitor"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

func (st *stage) changes(dir, query string) {
	st.Helper()
	db := database(st.T, dir)
	defer db.Close()
	if _, err := db.ExecContext(st.Context(), query); err != nil {
		st.Fatal(err)
	}
}

// gate is a ledger that nobody can follow until it is open.
type gate struct {
	ledger.Ledger
	open chan struct{}
}

func (g gate) Follow(ctx context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	return g.Ledger.Follow(ctx, after, func(entries []ledger.Entry) error {
		select {
		case <-g.open:
			return fn(entries)
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// holds has the figures not follow the record while work goes on.
func (st *stage) holds() {
	st.Helper()
	st.gate = gate{st.s.log, make(chan struct{})}
	log := slog.New(slog.DiscardHandler)
	m := monitor.New(st.gate, st.s.views.Store(), monitor.Options{Now: st.clock.Now, Log: log})
	judges := alerting.New(st.s.UseCases.Alerts, m, st.gate, st.s.views.Store(), alerting.Options{Log: log})
	ctx, stop := context.WithCancel(st.Context())
	var running sync.WaitGroup
	running.Go(func() { m.Run(ctx) })
	st.Cleanup(func() {
		stop()
		running.Wait()
	})
	st.works(17)
	st.judge = func() {
		st.Helper()
		if err := judges.Judge(ctx); err != nil {
			st.Fatal(err)
		}
	}
	st.counted = m
}
