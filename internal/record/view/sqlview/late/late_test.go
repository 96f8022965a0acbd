package late

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatNobodyReadsIsWrittenTwoSecondsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Late[string]
		if l.Started() {
			t.Error("tables are late before they may be")
		}
		l.Stop()
		written, broken := 0, errors.New("no luck")
		var mu sync.Mutex // has one goroutine at a time change what is late
		more := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			l.More(n)
		}
		l = Late[string]{}
		l.Start(func() error {
			mu.Lock()
			defer mu.Unlock()
			written++
			if broken == nil {
				l.None()
			}
			return broken
		})
		after := func(d time.Duration, want int) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if written != want {
				t.Errorf("written %d times, want %d", written, want)
			}
		}
		after(time.Hour, 0)
		more(3)
		after(Every-time.Millisecond, 0)
		more(1) // does not put it off
		after(time.Millisecond, 1)
		after(2*Every, 3) // it is repeated
		mu.Lock()
		broken = nil
		mu.Unlock()
		after(Every, 4)
		after(time.Hour, 4)
		more(1)
		mu.Lock()
		l.None() // a reader was first
		mu.Unlock()
		after(time.Hour, 4)
		more(1)
		l.Stop()
		after(time.Hour, 4)
		if l.Full(After-2) || !l.Full(After-1) {
			t.Errorf("the tables lack one entry, and %d more are too many: %t", After-2, l.Full(After-2))
		}
	})
}

func TestOfWhatIsForgottenATimerMayBeDue(t *testing.T) {
	var l Late[string]
	l.Start(func() error { return nil })
	defer l.Stop()
	due := time.Now().Add(time.Hour)
	l.Forget()
	if at := l.Soonest(); !at.IsZero() {
		t.Errorf("the tables lack nothing, and a timer is due at %v", at)
	}
	l.Count("ann", 2)
	l.Due(due.Add(time.Second))
	l.Due(due)
	l.More(1)
	if at := l.Soonest(); !at.Equal(due) || l.Number("ann") != 2 {
		t.Errorf("first timer %v, number %d", at, l.Number("ann"))
	}
	l.Forget()
	if at := l.Soonest(); at.IsZero() || at.After(time.Now()) || l.Number("ann") != 0 {
		t.Errorf("after what the tables lack is forgotten: first timer %v, number %d", at, l.Number("ann"))
	}
}

func TestNumbersStayUntilTheTablesHaveThem(t *testing.T) {
	var l Late[string]
	l.Count("ann", 2)
	if err := l.Numbers(func(string, int) error { return errors.New("no luck") }); err == nil || l.Number("ann") != 2 {
		t.Errorf("%v, number %d", err, l.Number("ann"))
	}
	if err := l.Numbers(func(of string, n int) error {
		if of != "ann" || n != 2 {
			t.Errorf("%s: %d", of, n)
		}
		return nil
	}); err != nil || l.Number("ann") != 0 {
		t.Errorf("%v, number %d", err, l.Number("ann"))
	}
}
