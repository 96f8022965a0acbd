//go:build slow && !race

package server

import (
	"slices"
	"testing"
	"time"
)

// TestTwoAlertsOfOneFigureNotifyOnce: so many handoffs fail that the milder and the severer alert about them are raised. People get the severer
// one, and with its recovery that the milder one is still raised; that it has become severer again; then its recovery.
func TestTwoAlertsOfOneFigureNotifyOnce(t *testing.T) {
	t.Parallel()
	const milder, severer = "handoff-failure-rate", "handoffs-fail-systemically"
	st := newStage(t, &story{})
	st.works(14)
	st.rejects(6)
	st.await(severer, true, soon)
	if a, ok := st.found(milder); !ok || a.Within != severer {
		t.Fatalf("raised: %+v", st.raised())
	}
	st.works(600) // less than 2 % and more than 0.5 % failed
	st.await(severer, false, most{4, 3 * time.Minute})
	if a, ok := st.found(milder); !ok || a.Within != "" {
		t.Fatalf("raised: %+v", st.raised())
	}
	past, err := st.operator.Alert(t.Context(), severer)
	if err != nil || past.State != "recovered" || past.Remains != milder {
		t.Errorf("%v: %+v", err, past)
	}
	st.rejects(20) // it has become severer again, since the milder one was raised
	st.await(severer, true, soon)
	if a, ok := st.found(milder); !ok || a.Within != severer {
		t.Errorf("raised: %+v", st.raised())
	}
	st.await(milder, false, later)
	again := []string{severer + " alert-raised ", severer + " alert-recovered " + milder}
	want := slices.Concat(again, again, []string{milder + " alert-recovered "})
	for len(want) > 0 {
		m := st.box.next(t)
		if m.Name != milder && m.Name != severer {
			continue
		}
		if got := m.Name + " " + m.Event + " " + m.Remains; got != want[0] {
			t.Fatalf("the person is sent %q, want %q", got, want)
		}
		want = want[1:]
	}
}
