package quota_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
)

func TestThePrincipalWhoWorksTheProcessorWaitsForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := quota.NewWork(2)
		junk, honest := agent("default", "junk"), agent("default", "honest")
		entered := make(chan func(), 100)
		enter := func(ctx context.Context, c caller.Caller) {
			leave, err := w.Enter(ctx, c)
			if err == nil {
				entered <- leave
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range 2 + 16 {
			go enter(ctx, junk)
		}
		synctest.Wait()
		if len(entered) != 2 {
			t.Errorf("%d calls run at once", len(entered))
		}
		_, err := w.Enter(t.Context(), junk)
		if r, ok := refusal.As(err); !ok || r.Code != refusal.Overloaded || r.Details["retry_seconds"] != 1 {
			t.Errorf("one more that waits: %v", err)
		}
		for _, c := range []caller.Caller{honest, agent("other", "junk"), caller.System("default", "courier")} {
			leave, err := w.Enter(t.Context(), c)
			if err != nil {
				t.Errorf("%s: %v", c, err)
				continue
			}
			leave()
		}
		changed := make(chan func(), 100)
		for range 2 + 40 { // beside its reads, and none of them refused
			go func() {
				leave, err := w.EnterChange(t.Context(), junk)
				if err != nil {
					t.Error(err)
				}
				changed <- leave
			}()
		}
		for n := range 2 + 40 {
			synctest.Wait()
			if n == 0 && len(changed) != 2 {
				t.Errorf("%d changes run at once", len(changed))
			}
			(<-changed)()
		}
		for range 5 {
			(<-entered)()
			synctest.Wait()
		}
		cancel() // those that still wait give up
		synctest.Wait()
		for len(entered) > 0 {
			(<-entered)()
		}
		go enter(t.Context(), junk)
		go enter(t.Context(), junk)
		synctest.Wait()
		if len(entered) != 2 {
			t.Errorf("%d calls run once all have left", len(entered))
		}
	})
}

func TestNoBoundBoundsNothing(t *testing.T) {
	var w *quota.Work
	leave, err := w.Enter(t.Context(), agent("default", "ann"))
	if err != nil {
		t.Fatal(err)
	}
	leave()
}
