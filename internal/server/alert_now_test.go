package server

import (
	"slices"
	"testing"
	"time"
)

// TestAnAlertThatHoldsNamesWhatIsBehindItNow: dead letters are discarded and others come while the alert is raised. The record keeps what was behind
// it when it was raised.
func TestAnAlertThatHoldsNamesWhatIsBehindItNow(t *testing.T) {
	t.Parallel()
	st := newStage(t, &story{})
	st.parks()
	first := st.await("dead-letters", true, most{20, time.Minute})
	st.parks()
	st.advance(11 * time.Minute)
	dead := st.dead()
	for _, id := range first.Handoffs {
		task := id[:len(id)-len(".h1")]
		if _, err := st.boss.Discard(t.Context(), task, "nobody can do it"); err != nil {
			t.Fatal(err)
		}
		dead = slices.DeleteFunc(dead, func(d string) bool { return d == task })
	}
	if len(first.Handoffs) != 2 || len(dead) != 2 {
		t.Fatalf("raised: %+v; then left: %q", first, dead)
	}
	st.advance(6 * time.Minute)
	st.again()
	a, ok := st.found("dead-letters")
	for _, task := range dead {
		if !slices.Contains(a.Handoffs, task+".h1") {
			t.Errorf("raised: %v; %s is not behind %+v", ok, task, a)
		}
	}
	if len(a.Handoffs) != 2 || a.Now != "2" {
		t.Errorf("%+v", a)
	}
	if _, entry := st.entries("dead-letters"); !slices.Equal(entry.Handoffs, first.Handoffs) {
		t.Errorf("recorded: %q, raised with %q", entry.Handoffs, first.Handoffs)
	}
}
