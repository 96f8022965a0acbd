package sqlview

import (
	"context"
	"errors"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/sweep"
)

// halting is a record of which a read returns nothing now and then, and otherwise fewer entries than were asked for. One entry is damaged.
type halting struct {
	ledger.Ledger
	reads   int
	damaged ledger.Position // 0: none
}

func (h *halting) Read(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	if h.reads++; h.reads%3 == 0 {
		return nil, nil
	}
	list, err := h.Ledger.Read(ctx, after, min(limit, 2))
	for i := range list {
		if list[i].Position == h.damaged {
			return list[:i], &ledger.Damaged{Position: h.damaged, Err: errors.New("it is changed")}
		}
	}
	return list, err
}

// A short read is not the end of the record, and what is before a damaged entry is not damaged.
func TestASweepComesToEveryEntry(t *testing.T) {
	f := newFollowing(t, "")
	play(t, f.d, f.life, 20)
	all, err := f.d.Read(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []ledger.Position{0, all[7].Position} {
		want := map[ledger.Stream]bool{}
		for _, e := range all {
			want[e.Stream] = want[e.Stream] || e.Position != damaged
		}
		var s sweep.Sweep
		record := &halting{Ledger: f.d, damaged: damaged}
		for range all {
			streams, err := s.Next(t.Context(), record, f.readers, 5)
			if err != nil {
				t.Fatal(err)
			}
			for of := range streams {
				delete(want, of)
			}
		}
		for of, is := range want {
			if is {
				t.Errorf("with damage at %d, the sweep does not come to %s", damaged, of)
			}
		}
	}
}
