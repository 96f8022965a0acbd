package monitor

import (
	"context"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// comparisons counts how often rows are compared.
type comparisons struct {
	view.Counts
	n     int
	wrong []ledger.Stream
}

func (c *comparisons) Disagreeing(context.Context, []ledger.Stream, int) ([]ledger.Stream, error) {
	c.n++
	return c.wrong, nil
}

func TestRowsThatAgreeAreComparedEvery15SecondsAndOthersAtEachJudgement(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	c := &comparisons{}
	m := New(ledgertest.NewDouble(ledgertest.Faults{}), view.Store{Counts: c}, Options{Now: func() time.Time { return now }})
	for _, step := range []struct {
		later    time.Duration
		judged   bool
		wrong    []ledger.Stream
		compared int // in all
	}{
		{0, false, nil, 1}, // a scrape has something to show
		{2 * time.Second, true, nil, 1},
		{12 * time.Second, true, nil, 1},
		{time.Second, false, nil, 1}, // not by a scrape
		{0, true, []ledger.Stream{"default/task/a"}, 2},
		{2 * time.Second, true, []ledger.Stream{"default/task/a"}, 3},
		{2 * time.Second, true, nil, 4},
		{2 * time.Second, true, nil, 4},
		{-time.Hour, true, nil, 5}, // the clock was set back
	} {
		now, c.wrong = now.Add(step.later), step.wrong
		if counts, err := m.wrong(t.Context(), step.judged); err != nil || counts["default"] != len(step.wrong) || c.n != step.compared {
			t.Errorf("%+v: compared %d times, %v wrong, %v", step, c.n, counts, err)
		}
	}
}
