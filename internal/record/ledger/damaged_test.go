package ledger_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// holed is a ledger of nine entries, of which some are damaged. It ends when it has been followed up to its end.
type holed struct {
	ledger.Ledger
	damaged []ledger.Position
}

var errEnd = errors.New("the end")

func (h holed) Follow(_ context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	for at := after + 1; at < 10; at++ {
		if slices.Contains(h.damaged, at) {
			return &ledger.Damaged{Position: at, Err: errors.New("its bytes")}
		}
		if err := fn([]ledger.Entry{{Position: at}}); err != nil {
			return err
		}
	}
	return errEnd
}

func TestAFollowerGoesOnAfterDamagedEntriesAndNotAfterErrorsOfItsOwn(t *testing.T) {
	own := &ledger.Damaged{Position: 9, Err: errors.New("of another stream")}
	for _, c := range []struct {
		damaged, skipped, got []ledger.Position
		fails                 ledger.Position // the function does at this entry
		want                  error
	}{
		{damaged: []ledger.Position{4, 5, 9}, skipped: []ledger.Position{4, 5, 9}, got: []ledger.Position{3, 6, 7, 8}, want: errEnd},
		{damaged: []ledger.Position{4}, skipped: []ledger.Position{4}, got: []ledger.Position{3, 5, 6}, fails: 6, want: own},
		{got: []ledger.Position{3, 4, 5, 6, 7, 8, 9}, want: errEnd},
	} {
		var skipped, got []ledger.Position
		err := ledger.FollowPast(t.Context(), holed{damaged: c.damaged}, 2, func(at ledger.Position, _ error) { skipped = append(skipped, at) }, func(list []ledger.Entry) error {
			got = append(got, list[0].Position)
			if list[0].Position == c.fails {
				return own
			}
			return nil
		})
		if !errors.Is(err, c.want) || !slices.Equal(skipped, c.skipped) || !slices.Equal(got, c.got) {
			t.Errorf("%+v: %v, skipped %d, got %d", c, err, skipped, got)
		}
	}
}
