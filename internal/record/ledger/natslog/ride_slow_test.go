//go:build slow

package natslog

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// progress begins so many appends that do not end.
func progress(r *riders, n int) {
	for range n {
		r.board(new(ledger.Position))
	}
}

// rider is a call that asks where the record ends.
type rider struct {
	at ledger.Position
	ok bool
}

func ride(ctx context.Context, r *riders) <-chan rider {
	got := make(chan rider, 1)
	go func() {
		at, ok := r.ride(ctx)
		got <- rider{at, ok}
	}()
	synctest.Wait()
	return got
}

func TestAnAppendThatIsSentAfterACallTellsWhereTheRecordEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r riders
		progress(&r, rideAmong-1)
		before := ledger.Position(0)
		arriveBefore := r.board(&before)
		one, two := ride(t.Context(), &r), ride(t.Context(), &r)
		before = 5 // was sent before the calls: others may have been acknowledged after it, and before them
		arriveBefore()
		synctest.Wait()
		if len(one)+len(two) != 0 {
			t.Error("an append that had begun before has told them")
		}
		next := ledger.Position(0)
		arrive := r.board(&next)
		next = 9
		arrive()
		for _, got := range []rider{<-one, <-two} {
			if got != (rider{9, true}) {
				t.Errorf("they are told %+v", got)
			}
		}
	})
}

func TestTheLeaderIsAskedWhereTheRecordEndsWhenAppendsAreFewOrLateOrFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r riders
		progress(&r, rideAmong-1)
		began := time.Now()
		if got := <-ride(t.Context(), &r); got.ok || !time.Now().Equal(began) {
			t.Errorf("%+v with few appends, after %s", got, time.Since(began))
		}
		progress(&r, 1)
		late := ride(t.Context(), &r)
		if got := <-late; got.ok || time.Since(began) != rideWithin {
			t.Errorf("%+v when none begins, after %s", got, time.Since(began))
		}
		slow := ride(t.Context(), &r)
		at := ledger.Position(0)
		arrive := r.board(&at)
		time.Sleep(rideWithin)
		if synctest.Wait(); len(slow) != 0 {
			t.Errorf("%+v while an append that has begun is not answered yet", <-slow)
		}
		began = time.Now()
		if got := <-slow; got.ok || time.Since(began) != rideFor {
			t.Errorf("%+v when the answer is late, after %s", got, time.Since(began))
		}
		arrive()
		fails := ride(t.Context(), &r)
		r.board(&at)()
		if got := <-fails; got.ok {
			t.Errorf("%+v when it fails", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		gone := ride(ctx, &r)
		cancel()
		if got := <-gone; got.ok {
			t.Errorf("%+v for a call that has ended", got)
		}
		if len(r.waiting) != 0 {
			t.Errorf("%d calls still wait", len(r.waiting))
		}
		if r.board(&at)(); r.appends != rideAmong {
			t.Errorf("%d appends are in progress, want %d", r.appends, rideAmong)
		}
	})
}
