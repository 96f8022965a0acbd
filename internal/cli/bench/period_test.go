package bench

import (
	"testing"
	"time"
)

func TestHandoffsCountAfterTheWarmUpForTheTimeOfTheRun(t *testing.T) {
	var now time.Time
	p := newPeriod(2, 10*time.Second, now)
	for _, c := range []struct {
		client       int
		after        time.Duration // the last one
		counts, more bool
	}{
		{0, 500 * time.Millisecond, false, true},
		{0, 700 * time.Millisecond, false, true}, // the other client is not warm
		{1, 300 * time.Millisecond, false, true}, // opens it
		{0, 9 * time.Second, true, true},
		{0, 2 * time.Second, true, true}, // the other client has none in it
		{1, time.Second, true, false},    // closes it
		{0, time.Second, false, false},
	} {
		now = now.Add(c.after)
		if counts, more := p.ended(c.client, now); counts != c.counts || more != c.more {
			t.Errorf("client %d at %s: counts %t, more %t", c.client, now.Sub(p.began), counts, more)
		}
	}
	if got := p.length(now); got != 12*time.Second {
		t.Errorf("open for %s", got)
	}
	if got := newPeriod(1, time.Second, now).length(now); got != 0 {
		t.Errorf("never opened: %s", got)
	}
}
