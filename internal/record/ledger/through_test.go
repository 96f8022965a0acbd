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
	reads int
	has   ledger.Position // at most
}

func (l *late) Read(_ context.Context, after ledger.Position, limit int) (list []ledger.Entry, err error) {
	l.reads++
	for at := after + 1; at <= min(ledger.Position(l.reads/3*2), l.has) && len(list) < limit; at++ { //nolint:gosec // not negative
		list = append(list, ledger.Entry{Position: at})
	}
	return list, nil
}

func TestWhatAReplicaLacksIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []ledger.Position
		note := func(e *ledger.Entry) error {
			got = append(got, e.Position)
			return nil
		}
		if err := ledger.Through(t.Context(), &late{has: 100}, 0, 5, note); err != nil || len(got) != 5 || got[4] != 5 {
			t.Errorf("entries up to 5: %v, %v", got, err)
		}
		got = nil
		if err := ledger.Through(t.Context(), &late{has: 3}, 0, 5, note); !errors.Is(err, ledger.ErrUnavailable) || len(got) != 3 {
			t.Errorf("of five entries three come: %v, %v", got, err)
		}
		broken := errors.New("broken")
		if err := ledger.Through(t.Context(), &late{has: 3}, 0, 5, func(*ledger.Entry) error { return broken }); !errors.Is(err, broken) {
			t.Errorf("the function fails: %v", err)
		}
	})
}
