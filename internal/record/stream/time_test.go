package stream_test

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

func TestTheTimeOfAStreamNeverGoesBack(t *testing.T) {
	l := ledgertest.NewDouble(ledgertest.Faults{})
	begin := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := begin
	seen := clock
	for _, step := range []time.Duration{0, time.Hour, -2 * time.Hour, time.Minute, -time.Minute, 3 * time.Hour} {
		clock = clock.Add(step)
		k, err := stream.New("task", l, func(_ string, e taken) string { return e.By }, func() time.Time { return clock }, []taken{{}},
			stream.Options[string, taken]{Cached: 10}) // a server that has just started
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time from the cache
			_, err := k.Do(t.Context(), stream.Write{Actor: ledger.Actor{Principal: "agent/anna"}}, place, func(_ string, now time.Time) ([]taken, error) {
				seen = now
				return []taken{{"anna"}}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if !seen.Equal(clock) {
				t.Errorf("the rules see %s when it is %s", seen, clock)
			}
		}
	}
	entries, err := l.Stream(t.Context(), place, 0, 100)
	if err != nil || len(entries) != 12 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for i, e := range entries[1:] {
		if before := entries[i]; e.Time.Before(before.Time) {
			t.Errorf("entry %d is of %s, and the one before it of %s", i+2, e.Time, before.Time)
		}
	}
	if last := entries[11].Time; !last.Equal(begin.Add(2 * time.Hour)) {
		t.Errorf("the last entry is of %s", last)
	}
}
