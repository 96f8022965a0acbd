package server

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Of many calls that waited, the last is answered long after the first: as long as answers are given, none is cut off. Event streams do not hold the
// server for longer than a while.
func TestCallsThatWaitedAreAnsweredHoweverManyThereAre(t *testing.T) {
	for _, c := range []struct {
		name           string
		calls, streams int64
		each           time.Duration // between two answers
		least, most    time.Duration // until the streams are ended
	}{
		{"nothing is in progress", 0, 0, 0, 0, 0},
		{"streams alone", 0, 3, 0, grace, grace},
		{"few calls", 3, 0, time.Millisecond, 3 * time.Millisecond, grace},
		{"few calls, and streams", 3, 2, time.Millisecond, grace, 2 * grace},
		{"many calls", 2000, 0, 2 * time.Millisecond, 4 * time.Second, 4*time.Second + grace},
		{"slow answers, and streams", 10, 2, 400 * time.Millisecond, 4 * time.Second, 4*time.Second + 2*grace},
		{"more than the time to drain", 100, 0, 400 * time.Millisecond, 10 * time.Second, 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				drain, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				stopped, stop := context.WithCancel(t.Context())
				s := &Server{stop: stop}
				s.calls.Store(c.calls + c.streams)
				go func() {
					for range c.calls {
						time.Sleep(c.each)
						s.calls.Add(-1)
					}
				}()
				began := time.Now()
				go s.endStreams(drain, grace)
				<-stopped.Done()
				if took := time.Since(began); took < c.least || took > c.most {
					t.Errorf("after %s", took)
				}
				time.Sleep(c.each * time.Duration(c.calls)) // the rest of them ends
			})
		})
	}
}
