package ledger_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// late is a record whose replica has some more entries with every third read.
type late struct {
	reads     int
	has, last ledger.Position // what its replica gets at most, and what there is
}

func (l *late) Read(_ context.Context, after ledger.Position, limit int) (list []ledger.Entry, err error) {
	l.reads++
	for at := after + 1; at <= min(ledger.Position(l.reads/3*2), l.has) && len(list) < limit; at++ { //nolint:gosec // not negative
		list = append(list, ledger.Entry{Position: at})
	}
	return list, nil
}

func (l *late) Last(context.Context) (ledger.Position, error) { return l.last, nil }

func TestWhatAReplicaLacksIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []ledger.Position
		note := func(e *ledger.Entry) error {
			got = append(got, e.Position)
			return nil
		}
		if err := ledger.Through(t.Context(), &late{has: 100, last: 100}, 0, 5, note); err != nil || len(got) != 5 || got[4] != 5 {
			t.Errorf("entries up to 5: %v, %v", got, err)
		}
		got = nil
		if err := ledger.Through(t.Context(), &late{has: 3, last: 5}, 0, 5, note); !errors.Is(err, ledger.ErrBehind) || !errors.Is(err, ledger.ErrUnavailable) || len(got) != 3 {
			t.Errorf("of five entries three come: %v, %v", got, err)
		}
		broken := errors.New("broken")
		if err := ledger.Through(t.Context(), &late{has: 3, last: 3}, 0, 3, func(*ledger.Entry) error { return broken }); !errors.Is(err, broken) {
			t.Errorf("the function fails: %v", err)
		}
	})
}

// TestARecordEndsWhereItsLastEntryIs: an empty page means that there is no more, and that is known without waiting.
func TestARecordEndsWhereItsLastEntryIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &late{has: 3, last: 3}
		after := ledger.Position(0)
		for {
			list, err := ledger.Page(t.Context(), l, after, 2)
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == 0 {
				break
			}
			after = list[len(list)-1].Position
		}
		if after != 3 {
			t.Errorf("the record is taken to end at position %d, and it ends at 3", after)
		}
		reads := l.reads
		err := ledger.Through(t.Context(), l, 0, 5, func(*ledger.Entry) error { return nil })
		if d, ok := errors.AsType[*ledger.Damaged](err); !ok || d.Position != 4 || l.reads > reads+3 {
			t.Errorf("a record that ends at position 3 has no entry 5: %v, after %d reads", err, l.reads-reads)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := ledger.Page(ctx, &late{last: 5}, 0, 2); !errors.Is(err, context.Canceled) {
			t.Errorf("the call ended: %v", err)
		}
	})
}
