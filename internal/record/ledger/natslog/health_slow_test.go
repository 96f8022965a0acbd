//go:build slow

package natslog

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// A call is tried again while an election may be on, and fails at once where there has been no majority for longer.
func TestACallWaitsForAnElectionAndNotForAMajority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h health
		for _, step := range []struct {
			cause  error
			passes time.Duration
			want   time.Duration
		}{
			{nil, time.Hour, patience},
			{errNoAnswer, 9 * time.Second, patience},
			{errNoAnswer, 2 * time.Second, 0},
			{nil, time.Hour, patience},
			{errNoAnswer, time.Second, patience},
		} {
			h.failed(step.cause)
			time.Sleep(step.passes)
			if got := h.tries(); got != step.want {
				t.Errorf("%s after %v it is tried again for %s, not %s", step.passes, step.cause, got, step.want)
			}
		}
	})
}

// A node that was paused while it led still calls itself the leader for a moment, without the entries of the next one: they are not lost.
func TestThatEntriesAreLostIsBelievedWhenItStaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h health
		for range 2 { // twice: a doubt that has ended does not count for the next
			h.doubts(lost(1, 2))
			time.Sleep(confirmAfter - time.Millisecond)
			h.doubts(lost(1, 2))
			if !errors.Is(h.refuses(), errLost) || !errors.Is(h.err(), errLost) || !h.isInDoubt() {
				t.Errorf("in doubt: %v, %v", h.refuses(), h.err())
			}
			h.trusts()
			if h.refuses() != nil || h.err() != nil || h.isInDoubt() {
				t.Errorf("the next leader has them: %v, %v", h.refuses(), h.err())
			}
		}
		h.doubts(lost(1, 2))
		time.Sleep(confirmAfter)
		h.doubts(lost(1, 2))
		h.trusts()
		if !errors.Is(h.refuses(), errLost) || h.isInDoubt() {
			t.Errorf("it stayed so: %v", h.refuses())
		}
	})
}

func TestAnErrorWithoutAMajoritySaysSo(t *testing.T) {
	for _, test := range []struct {
		cause    error
		majority bool
		full     bool
	}{
		{&apiError{ErrCode: codeNotAvailable}, false, false},
		{nats.ErrTimeout, false, false},
		{errNoAnswer, false, false},
		{&apiError{ErrCode: codeNoStorage}, true, true},
		{errReplaced, true, false},
		{errLost, true, false},
	} {
		err := unavailable(test.cause)
		if !errors.Is(err, ledger.ErrUnavailable) || errors.Is(err, ledger.ErrNoMajority) == test.majority || errors.Is(err, ledger.ErrFull) != test.full {
			t.Errorf("%v: %v", test.cause, err)
		}
	}
}
