package ledgertest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
)

var everything = ledgertest.Faults{
	Seed: 1, Conflicts: 0.2, Written: 0.1, Lost: 0.1, Gaps: 3,
	Lag: 2 * time.Millisecond, Latency: 200 * time.Microsecond,
}

func TestDoublePassesTheSuite(t *testing.T) {
	ledgertest.Run(t, func(*testing.T) ledger.Ledger { return ledgertest.NewDouble(ledgertest.Faults{}) })
}

func TestDoubleWithAllFaultsPassesTheSuite(t *testing.T) {
	ledgertest.Run(t, func(*testing.T) ledger.Ledger { return ledgertest.NewDouble(everything) })
}

func TestDoubleKeepsItsEntriesWhenReopened(t *testing.T) {
	kept := map[string]*ledgertest.Double{}
	ledgertest.RunDurable(t, func(_ *testing.T, place string) ledger.Ledger {
		d := ledgertest.NewDouble(ledgertest.Faults{Gaps: 2})
		if old := kept[place]; old != nil {
			d = old.Reopen()
		}
		kept[place] = d
		return d
	})
}

func TestDoubleCommitsEachFaultItIsAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		faults  ledgertest.Faults
		want    error
		written int
	}{
		"spurious conflict":     {ledgertest.Faults{Conflicts: 1}, ledger.ErrConflict, 0},
		"unknown but written":   {ledgertest.Faults{Written: 1}, ledger.ErrUnknown, 1},
		"unknown and not there": {ledgertest.Faults{Lost: 1}, ledger.ErrUnknown, 0},
	} {
		d := ledgertest.NewDouble(c.faults)
		if _, err := d.Append(t.Context(), ledgertest.NewEntry("w/task/x", 1, ""), 0); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if got, err := d.Stream(t.Context(), "w/task/x", 0, 9); err != nil || len(got) != c.written {
			t.Errorf("%s: %d entries written, %v; want %d", name, len(got), err, c.written)
		}
	}
	d := ledgertest.NewDouble(ledgertest.Faults{})
	d.Break(errors.New("no quorum"))
	if _, err := d.Append(t.Context(), ledgertest.NewEntry("w/task/x", 1, ""), 0); !errors.Is(err, ledger.ErrUnavailable) || d.Err() == nil {
		t.Errorf("broken: got %v", err)
	}
	d.Break(nil)
	if _, err := d.Append(t.Context(), ledgertest.NewEntry("w/task/x", 1, ""), 0); err != nil {
		t.Errorf("repaired: %v", err)
	}
}

func TestFollowersLagUntilTheirTimeOrANudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := ledgertest.NewDouble(ledgertest.Faults{Seed: 3, Lag: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		seen := 0
		for range 10 {
			go func() {
				_ = d.Follow(ctx, 0, func(batch []ledger.Entry) error {
					mu.Lock()
					defer mu.Unlock()
					seen += len(batch)
					return nil
				})
			}()
		}
		count := func() int { synctest.Wait(); mu.Lock(); defer mu.Unlock(); return seen }
		if _, err := d.Append(ctx, ledgertest.NewEntry("w/task/x", 1, ""), 0); err != nil {
			t.Fatal(err)
		}
		if n := count(); n != 0 {
			t.Errorf("%d of 10 followers saw the entry at once", n)
		}
		time.Sleep(30 * time.Minute)
		if n := count(); n == 0 || n == 10 {
			t.Errorf("%d of 10 followers saw the entry after half the lag, want some", n)
		}
		d.Nudge()
		if n := count(); n != 10 {
			t.Errorf("%d of 10 followers saw the entry after the nudge", n)
		}
		cancel()
		synctest.Wait()
	})
}

func TestDoubleRunsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := everything
		slow.Lag, slow.Latency = 5*time.Second, time.Second
		d := ledgertest.NewDouble(slow)
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				var expect ledger.Position
				for v := range 20 {
					e := ledgertest.NewEntry(ledger.StreamOf("w", "task", fmt.Sprint(w)), uint64(v+1), "")
					var err error
					if expect, err = ledgertest.Put(t.Context(), d, e, expect); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		total := 0
		err := d.Follow(t.Context(), 0, func(batch []ledger.Entry) error {
			if total += len(batch); total == 160 {
				return errors.New("all")
			}
			return nil
		})
		wg.Wait()
		if err == nil || total != 160 {
			t.Errorf("followed %d entries, %v", total, err)
		}
	})
}

func TestPutReportsARealConflict(t *testing.T) {
	d := ledgertest.NewDouble(everything)
	if _, err := ledgertest.Put(t.Context(), d, ledgertest.NewEntry("w/task/x", 1, "mine"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := ledgertest.Put(t.Context(), d, ledgertest.NewEntry("w/task/x", 1, "yours"), 0); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
}
