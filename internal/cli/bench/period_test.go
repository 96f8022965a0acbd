package bench

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestTheTimeInWhichARunStandsStillIsLeftOut: nor do the handoffs count that were under way then.
func TestTheTimeInWhichARunStandsStillIsLeftOut(t *testing.T) {
	var begin time.Time
	at := func(seconds float64) time.Time { return begin.Add(time.Duration(seconds * float64(time.Second))) }
	p := newPeriod(1, 10*time.Second, begin)
	for s := 0.5; s < 40; s += 0.5 {
		if s < 4 || s >= 19 && s < 24 {
			p.beat(at(s))
		}
		for _, c := range []struct {
			began, ended        float64
			counts, stood, more bool
		}{
			{0.5, 1, false, false, true}, // opens it
			{2, 3.5, true, false, true},
			{3.5, 19, false, true, true}, // it stood still
			{19, 20, true, false, true},
			{20, 23, true, false, true},
			{23, 27, false, true, true}, // it stood still until the handoff ended
			{27, 28, true, false, true},
			{28, 30, true, false, false}, // closes it
		} {
			if c.ended != s {
				continue
			}
			if got := p.ended(0, at(c.began), at(c.ended)); got != (ending{c.counts, c.stood, c.more}) {
				t.Errorf("from %g to %g: %+v", c.began, c.ended, got)
			}
		}
	}
	if length, stood := p.length(at(40)); length != 10*time.Second || stood != 19*time.Second {
		t.Errorf("open for %s, and stood still for %s", length, stood)
	}
}

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
		for beat := now.Add(-c.after); !beat.After(now); beat = beat.Add(heartbeat) {
			p.beat(beat)
		}
		if got := p.ended(c.client, now, now); got != (ending{counts: c.counts, more: c.more}) {
			t.Errorf("client %d at %s: %+v", c.client, now.Sub(p.began), got)
		}
	}
	if got, stood := p.length(now); got != 12*time.Second || stood != 0 {
		t.Errorf("open for %s, and stood still for %s", got, stood)
	}
	if got, _ := newPeriod(1, time.Second, now).length(now); got != 0 {
		t.Errorf("never opened: %s", got)
	}
}

// TestTheProgressIsOfTheTimeThatIsMeasured: neither of the warm-up, nor of the time in which the run stands still.
func TestTheProgressIsOfTheTimeThatIsMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := newPeriod(1, 10*time.Second, time.Now()), newSamples()
		var notes []string
		stop := progress(p, s, func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) })
		handsOff := func(seconds int) {
			for range seconds {
				began := time.Now()
				time.Sleep(time.Second)
				if p.ended(0, began, time.Now()).counts {
					s.add(map[string]time.Duration{stageWhole: time.Second})
				}
			}
		}
		time.Sleep(time.Millisecond) // each note is some time before a handoff ends
		handsOff(7)
		time.Sleep(10 * time.Second)
		p.beat(time.Now())
		handsOff(4)
		stop()
		want := []string{
			"1 client for 10s",
			"1 client, 4s of 10s: 3 handoffs, 1 per second now, 0 failed",
			"1 client, 6s of 10s: 6 handoffs, 1 per second now, 0 failed",
			"1 client, 6s of 10s: 6 handoffs, 0 per second now, 0 failed", // it stands still
			"1 client, 9s of 10s: 8 handoffs, 1 per second now, 0 failed",
			"1 client: 10 handoffs in all, 0 failed",
		}
		if !slices.Equal(notes, want) {
			t.Errorf("%q", notes)
		}
	})
}

// TestATimeThatAnotherLookHasOvertakenEndsNothing: a handoff ends with the time in which the run stands still, and the clock was looked at again before it is noted.
func TestATimeThatAnotherLookHasOvertakenEndsNothing(t *testing.T) {
	var begin time.Time
	p := newPeriod(1, 10*time.Second, begin)
	opened := begin.Add(time.Second)
	p.ended(0, begin, opened)
	last, later := opened.Add(longest), opened.Add(time.Minute)
	for _, now := range []time.Time{last, later} {
		p.beat(now)
	}
	if got := p.open(later.Add(-time.Millisecond)); got != longest {
		t.Errorf("open for %s", got)
	}
	if got := p.ended(0, opened, later.Add(-time.Millisecond)); got != (ending{stood: true, more: true}) {
		t.Errorf("%+v", got)
	}
}
