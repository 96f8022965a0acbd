package pace

import (
	"testing"
	"time"
)

func TestARoundForOneIsFollowedAtOnceAndOneForManyAfterAWhile(t *testing.T) {
	for n, want := range map[int]time.Duration{0: 0, 1: 0, 2: 500 * time.Microsecond, 5: 2 * time.Millisecond, 17: 8 * time.Millisecond, 33: most, 1 << 62: most} {
		if got := After(n); got != want {
			t.Errorf("%s after a round for %d, want %s", got, n, want)
		}
	}
}
