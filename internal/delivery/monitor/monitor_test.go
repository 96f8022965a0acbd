package monitor_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/delivery/monitor"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// damaged is a ledger with an entry that cannot be decoded.
type damaged struct {
	*ledgertest.Double
	at ledger.Position
}

func (d damaged) Follow(ctx context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	return d.Double.Follow(ctx, after, func(list []ledger.Entry) error {
		for i := range list {
			if list[i].Position == d.at {
				if err := fn(list[:i]); err != nil {
					return err
				}
				return &ledger.Damaged{Position: d.at, Err: errors.New("its bytes")}
			}
		}
		return fn(list)
	})
}

func TestTheFiguresGoOnAfterADamagedEntry(t *testing.T) {
	log := ledgertest.NewDouble(ledgertest.Faults{})
	for i := range 3 {
		e := ledger.Entry{
			Stream: ledger.StreamOf("default", "token", string(rune('a'+i))), Version: 1, Time: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
			Actor: ledger.Actor{Principal: "admin/ann"}, Events: []ledger.Event{{Name: "token-created", Version: 1, Data: []byte(`{}`)}},
		}
		if _, err := log.Append(t.Context(), e, 0); err != nil {
			t.Fatal(err)
		}
	}
	m := monitor.New(damaged{log, 2}, view.Store{}, monitor.Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go m.Run(ctx)
	if err := m.Wait(ctx, 3); err != nil || !m.Ready() {
		t.Errorf("%v, ready: %v", err, m.Ready())
	}
}
