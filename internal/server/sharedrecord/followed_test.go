package sharedrecord_test

import (
	"context"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
)

// slow are views that are behind.
type slow struct {
	view.Freshness
	turn  *ledgertest.Turn
	holds bool // the turn of who waits
}

func (s *slow) Wait(context.Context, ledger.Position) error {
	s.holds = s.turn.Held
	return nil
}

// Calls of one principal wait for the views together: each that kept its turn meanwhile would hold up the next one.
func TestACallHasNoTurnWhileItWaitsForTheViewsOfItsFrontEnd(t *testing.T) {
	of := &ledgertest.Turn{Held: true}
	views := &slow{turn: of, holds: true}
	l := sharedrecord.NewVisible(ledgertest.NewDouble(ledgertest.Faults{}), views, nil)
	if _, err := l.Append(ledger.WithTurn(t.Context(), of), ledgertest.NewEntry("w/task/1", 1, "text"), 0); err != nil {
		t.Fatal(err)
	}
	if views.holds || of.Resumed != 1 {
		t.Errorf("it waits with its turn: %t, and for another %d times", views.holds, of.Resumed)
	}
}
