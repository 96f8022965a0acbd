package proof_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// growing is a record that gets more entries after its length was asked for, one of which may be damaged.
type growing struct {
	last, later, damaged ledger.Position
	asked                bool
}

func (g *growing) Last(context.Context) (ledger.Position, error) {
	if g.asked {
		return g.later, nil
	}
	g.asked = true
	return g.last, nil
}

func (g *growing) Read(ctx context.Context, after ledger.Position, limit int) (list []ledger.Entry, err error) {
	for at := after + 1; at <= g.later && len(list) < limit; at++ {
		if at == g.damaged {
			return list, &ledger.Damaged{Position: at, Err: errors.New("it is damaged")}
		}
		list = append(list, ledger.Entry{Position: at})
	}
	return list, ctx.Err()
}

// counter is a follower that counts.
type counter struct {
	prepared atomic.Int64
	at       ledger.Position // up to which all were added, without a gap
}

func (c *counter) Prepare(*ledger.Entry) { c.prepared.Add(1) }

func (c *counter) Add(entries []ledger.Entry) {
	for i := range entries {
		if entries[i].Position == c.at+1 {
			c.at++
		}
	}
}

// TestARecordThatIsReadAheadIsReadAsItIs reads one to its end, which is later than when it began, or to an entry that is damaged, and once more from its beginning.
func TestARecordThatIsReadAheadIsReadAsItIs(t *testing.T) {
	for name, c := range map[string]struct {
		record *growing
		end    ledger.Position
	}{
		"empty":                      {&growing{}, 0},
		"longer than some pages":     {&growing{last: 1000, later: 1000}, 1000},
		"it grows":                   {&growing{last: 1000, later: 1200}, 1200},
		"it is damaged":              {&growing{last: 1000, later: 1000, damaged: 700}, 699},
		"its first entry is damaged": {&growing{last: 1000, later: 1000, damaged: 1}, 0},
		"what was added is damaged":  {&growing{last: 1000, later: 1200, damaged: 1100}, 1099},
	} {
		t.Run(name, func(t *testing.T) {
			var to counter
			ahead, err := proof.ReadAhead(t.Context(), c.record, 0, &to)
			if err != nil {
				t.Fatal(err)
			}
			defer ahead.Close()
			at := ledger.Position(0)
			for {
				list, err := ahead.Read(t.Context(), at, 70)
				for i := range list {
					if at++; list[i].Position != at {
						t.Fatalf("after %d comes %d", at-1, list[i].Position)
					}
				}
				if len(list) > 0 && err == nil {
					continue
				}
				if damaged, ok := errors.AsType[*ledger.Damaged](err); ok != (c.record.damaged > 0) || ok && damaged.Position != c.record.damaged {
					t.Errorf("after %d: %v", at, err)
				}
				break
			}
			if at != c.end || to.at != c.end || to.prepared.Load() < int64(min(c.end, c.record.last)) { //nolint:gosec // a small number
				t.Errorf("it ends at %d, followed to %d, and %d were prepared; want %d", at, to.at, to.prepared.Load(), c.end)
			}
			if again, _ := ahead.Read(t.Context(), 0, 10); len(again) > 0 && again[0].Position != 1 {
				t.Errorf("once more from the beginning it has %d", again[0].Position)
			}
		})
	}
}

// TestAReadingThatIsCanceledLeavesNothingRunning cancels one before its end.
func TestAReadingThatIsCanceledLeavesNothingRunning(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ahead, err := proof.ReadAhead(ctx, &growing{last: 10000, later: 10000}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ahead.Close()
	if _, err := ahead.Read(ctx, 0, 10); err != nil {
		t.Error(err)
	}
	cancel()
	for at := ledger.Position(10); err == nil && at < 10000; at += 10 {
		_, err = ahead.Read(ctx, at, 10)
	}
	if err == nil {
		t.Error("a reading that was canceled ends as a record does")
	}
}

// TestARecordWhoseReadsLagVerifies: the replica that is read lacks the entries for a second. None of them counts as missing.
func TestARecordWhoseReadsLagVerifies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		record, tree, stored := ledgertest.NewDouble(ledgertest.Faults{}), new(proof.Tree), memory(nil)
		defer record.Close()
		for i := range 300 {
			e := ledgertest.NewEntry(ledger.StreamOf("default", "task", fmt.Sprint("t", i)), 1, "new")
			if _, err := record.Append(t.Context(), e, 0); err != nil {
				t.Fatal(err)
			}
		}
		entries, err := record.Read(t.Context(), 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			stored = tree.Append(proof.Leaf(e), stored)
		}
		record.SetFaults(ledgertest.Faults{Lag: time.Second})
		report, err := proof.VerifyRecord(t.Context(), record, proof.Evidence{Stored: stored, Leaves: tree.Size()})
		if err != nil || report.Entries != 300 || len(report.Findings) > 0 {
			t.Errorf("%d entries verify, with %v, %v", report.Entries, report.Findings, err)
		}
	})
}
