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
		Cached: 100, Weigh: func(*string) int { return weight },
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

func TestTheFoldsOfStreamsThatHaveEndedTakeNoRoomFromTheOthers(t *testing.T) {
	l := &counting{Ledger: ledgertest.NewDouble(ledgertest.Faults{})}
	k, err := stream.New("task", l, func(_ string, e taken) string { return e.By }, time.Now, []taken{{}}, stream.Options[string, taken]{
		Cached: 4, Ended: func(s *string) bool { return *s == "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	of := func(n int) ledger.Stream { return ledger.StreamOf("default", "task", fmt.Sprint(n)) }
	set := func(by string, streams ...int) {
		t.Helper()
		for _, n := range streams {
			if _, err := k.Do(t.Context(), stream.Write{Actor: ledger.Actor{Principal: "agent/anna"}}, of(n), func(string, time.Time) ([]taken, error) { return []taken{{by}}, nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := func(when, state string, whole int, streams ...int) {
		t.Helper()
		l.whole = 0
		for _, n := range streams {
			if f, err := k.Load(t.Context(), of(n), true); err != nil || f.State != state {
				t.Errorf("%s, %d is %q, %v, want %q", when, n, f.State, err, state)
			}
		}
		if l.whole != whole {
			t.Errorf("%s, %d of %d were read from the beginning, want %d", when, l.whole, len(streams), whole)
		}
	}
	set("anna", 1, 2, 3)
	for n := range 600 {
		set("bert", 1000+n)
		set("", 1000+n)
		want("while others end", "anna", 0, 1, 2, 3)
	}
	want("when it has ended", "", 0, 1599, 1100)
	want("when it ended long ago", "", 1, 1050)
	set("", 1)
	want("when it has just ended", "", 0, 1)
	set("carl", 1)
	want("when it goes on", "carl", 0, 1)
	k.Purge()
	want("afterwards", "carl", 1, 1)
	want("afterwards", "", 1, 1599)
}

// Followers that lag ask for the folds of tasks that have just ended, and each would be a question to another machine.
func TestWhereStreamsAreFarTheFoldsOfManyMoreThatHaveEndedAreCached(t *testing.T) {
	l := &counting{Ledger: ledgertest.NewDouble(ledgertest.Faults{})}
	k, err := stream.New("task", l, func(_ string, e taken) string { return e.By }, time.Now, []taken{{}}, stream.Options[string, taken]{
		Cached: 4, Ended: func(s *string) bool { return *s == "" }, Far: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var ends []ledger.Entry
	for n := range 4000 {
		s := ledger.StreamOf("default", "task", fmt.Sprint(n))
		out, err := k.Do(t.Context(), stream.Write{Actor: ledger.Actor{Principal: "agent/anna"}, New: true}, s, func(string, time.Time) ([]taken, error) { return []taken{{""}}, nil })
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, ledger.Entry{Stream: s, Position: out.At, Version: 1, Events: out.Events})
	}
	l.whole = 0
	for _, e := range ends {
		e.Version = 2 // it is not folded by itself
		if f, err := k.LoadAt(t.Context(), e); err != nil || f.Head != e.Position {
			t.Fatalf("%s ends at %d: %v", e.Stream, f.Head, err)
		}
	}
	if l.whole > 0 {
		t.Errorf("%d of %d streams were read again", l.whole, len(ends))
	}
}
