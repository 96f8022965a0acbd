package mcpapi_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
	"github.com/trapezehq/trapeze/internal/api/park"
)

func TestACallWaitsInItsPlaceUntilThereIsSomethingForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, changed, asked, held := time.Now(), make(chan struct{}, 1), 0, 0
		for _, at := range []time.Duration{5 * time.Second, 8 * time.Second} { // what comes first is for another
			time.AfterFunc(at, func() { changed <- struct{}{} })
		}
		ask := func(ctx context.Context, wait time.Duration) error {
			if asked++; wait != 50*time.Second {
				t.Errorf("the API is to wait for %s", wait)
			}
			if asked < 3 {
				held++
				park.From(ctx).Take(changed, func() { held-- })
			}
			return nil
		}
		ctx, leave := liveness.Waits{}.Park(t.Context(), 50, ask)
		if took := time.Since(began); took != 8*time.Second || asked != 3 {
			t.Errorf("it waited for %s, and asked %d times", took, asked)
		}
		left, err := liveness.WaitThroughRestart(ctx, liveness.Waits{}, 50, func(_ context.Context, left time.Duration) (time.Duration, error) { return left, nil })
		if left != 42*time.Second || err != nil {
			t.Errorf("the call that follows waits for %s, %v", left, err)
		}
		if leave(); held != 0 {
			t.Errorf("%d places are held", held)
		}
		if _, leave := (liveness.Waits{Remote: true}).Park(t.Context(), 50, ask); asked != 3 {
			t.Error("a call of another process waits in a place")
		} else {
			leave()
		}
	})
}
