package event_test

import (
	"math"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event/backoff"
)

func TestRetriesWaitLongerEachTimeAndNeverLongerThanThirtySeconds(t *testing.T) {
	for n, want := range map[int]time.Duration{1: 2 * time.Second, 2: 4 * time.Second, 4: 16 * time.Second, 5: backoff.Max, 20: backoff.Max} {
		if got := backoff.Pause(n, 0); got != want {
			t.Errorf("retry %d waits %s, want %s", n, got, want)
		}
		if got := backoff.Pause(n, 0.999); got < want/2 || got >= want {
			t.Errorf("retry %d with jitter waits %s of %s", n, got, want)
		}
	}
	for _, odd := range []float64{math.NaN(), math.Inf(1), -3, 7} {
		if got := backoff.Pause(1, odd); got != 2*time.Second {
			t.Errorf("jitter %g makes a pause of %s", odd, got)
		}
	}
}
