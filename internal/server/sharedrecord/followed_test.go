package sharedrecord_test

import (
	"context"
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
)

// turn is that of a call, and what happened to it.
type turn struct {
	held bool
	log  []string
}

func (t *turn) Pause() bool {
	held := t.held
	t.held = false
	return held
}

func (t *turn) Resume(context.Context) {
	t.held = true
	t.log = append(t.log, "goes on")
}

// slow are views that are behind.
type slow struct {
	view.Freshness
	turn *turn
}

func (s slow) Wait(context.Context, ledger.Position) error {
	if s.turn.held {
		s.turn.log = append(s.turn.log, "waits with its turn")
	} else {
		s.turn.log = append(s.turn.log, "waits")
	}
	return nil
}

// Calls of one principal wait for the views together: each that kept its turn meanwhile would hold up the next one.
func TestACallHasNoTurnWhileItWaitsForTheViewsOfItsFrontEnd(t *testing.T) {
	of := &turn{held: true}
	l := sharedrecord.NewVisible(ledgertest.NewDouble(ledgertest.Faults{}), slow{turn: of}, nil)
	if _, err := l.Append(ledger.WithTurn(t.Context(), of), ledgertest.NewEntry("w/task/1", 1, "text"), 0); err != nil {
		t.Fatal(err)
	}
	if want := []string{"waits", "goes on"}; !slices.Equal(of.log, want) {
		t.Errorf("%q, want %q", of.log, want)
	}
}
