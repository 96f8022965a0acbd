package httpapi_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/api/park"
)

func TestACallThatWouldWaitLeavesWhatItWaitsFor(t *testing.T) {
	never := context.Background()
	for name, c := range map[string]struct {
		taken    bool
		happens  func(changed chan struct{}, cancel, stop func())
		want     time.Duration
		released int
	}{
		"it would not wait":     {false, nil, 0, 0},
		"nothing comes":         {true, nil, time.Minute, 1},
		"something comes":       {true, func(changed chan struct{}, _, _ func()) { changed <- struct{}{} }, time.Second, 1},
		"the caller goes":       {true, func(_ chan struct{}, cancel, _ func()) { cancel() }, time.Second, 1},
		"the server is drained": {true, func(_ chan struct{}, _, stop func()) { stop() }, time.Second, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(never)
			until, stop := context.WithCancel(never)
			defer cancel()
			defer stop()
			call, place := park.With(ctx)
			changed, released := make(chan struct{}, 1), 0
			if c.taken {
				park.From(call).Take(changed, func() { released++ })
			}
			if c.happens != nil {
				time.AfterFunc(time.Second, func() { c.happens(changed, cancel, stop) })
			}
			began := time.Now()
			came := place.Wait(ctx, until, began.Add(time.Minute))
			if waited := time.Since(began); waited != c.want || released != 0 || came != (name == "something comes") {
				t.Errorf("%s: it waited for %s, and %d were released before the end", name, waited, released)
			}
			place.Leave()
			place.Leave()
			if released != c.released {
				t.Errorf("%s: released %d times, want %d", name, released, c.released)
			}
		})
	}
}

func TestACallThatEndsAfterItsCallerHasGoneKeepsNothing(t *testing.T) {
	ctx, place := park.With(t.Context())
	place.Leave()
	released := false
	park.From(ctx).Take(make(chan struct{}), func() { released = true })
	place.Wait(t.Context(), t.Context(), time.Now().Add(time.Hour))
	if !released {
		t.Error("it is still held")
	}
	if park.From(t.Context()) != nil {
		t.Error("a call without a place has one")
	}
}
