package stream_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

// counting counts the entries that are read from the beginning of a stream.
type counting struct {
	ledger.Ledger
	whole int
}

func (c *counting) Stream(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	if after == 0 {
		c.whole++
	}
	return c.Ledger.Stream(ctx, s, after, limit)
}

func TestAFewLargeFoldsAreCachedAndVeryLargeOnesAreNot(t *testing.T) {
	l := &counting{Ledger: ledgertest.NewDouble(ledgertest.Faults{})}
	weight := 0
	k, err := stream.New("task", l, func(_ string, e taken) string { return e.By }, time.Now, []taken{{}}, stream.Options[string, taken]{
		Cached: 100, Weigh: func(string) int { return weight },
	})
	if err != nil {
		t.Fatal(err)
	}
	reads := func(streams int) int {
		t.Helper()
		l.whole = 0
		for range 2 {
			for n := range streams {
				if _, err := k.Load(t.Context(), ledger.StreamOf("default", "task", fmt.Sprint(n)), true); err != nil {
					t.Fatal(err)
				}
			}
		}
		return l.whole
	}
	for n := range 20 {
		if _, err := k.Do(t.Context(), stream.Write{Actor: ledger.Actor{Principal: "agent/anna"}}, ledger.StreamOf("default", "task", fmt.Sprint(n)),
			func(string, time.Time) ([]taken, error) { return []taken{{"anna"}}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if got := reads(20); got != 0 {
		t.Errorf("%d small folds were read again", got)
	}
	for n, c := range []struct{ weight, streams, want int }{{100 << 10, 10, 0}, {100 << 10, 20, 40}, {600 << 10, 1, 2}} {
		weight = c.weight
		for n := range c.streams { // a change weighs them
			if _, err := k.Do(t.Context(), stream.Write{Actor: ledger.Actor{Principal: "agent/anna"}}, ledger.StreamOf("default", "task", fmt.Sprint(n)),
				func(string, time.Time) ([]taken, error) { return []taken{{"bert"}}, nil }); err != nil {
				t.Fatal(err)
			}
		}
		if got := reads(c.streams); got != c.want {
			t.Errorf("case %d: %d folds of %d bytes were read %d times from the beginning, want %d", n, c.streams, c.weight, got, c.want)
		}
	}
}
