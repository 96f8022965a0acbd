//go:build slow

package server

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAnAlertThatThePolicySwitchesOffEndsAtOnce: there are dead letters before and after, and people are told why the alert is over.
func TestAnAlertThatThePolicySwitchesOffEndsAtOnce(t *testing.T) {
	t.Parallel()
	st := newStage(t, &story{disk: true})
	st.parks()
	a := st.await("dead-letters", true, most{20, time.Minute})
	if m := st.notice("dead-letters"); m.Event != "alert-raised" {
		t.Errorf("%+v", m)
	}
	st.config.Policy = filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(st.config.Policy, []byte("version: 1\nalerts:\n  dead-letters: off\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	st.restart(func(string) {})
	st.again()
	if left, ok := st.found("dead-letters"); ok {
		t.Errorf("it is raised: %+v", left)
	}
	if shown, err := st.operator.Alert(t.Context(), a.ID); err != nil || shown.State != "recovered" || !shown.Off {
		t.Errorf("%v: %+v", err, shown)
	}
	m := st.notice("dead-letters")
	if _, body := m.Text(); m.Event != "alert-recovered" || !m.Off || !strings.Contains(body, "switched it off") {
		t.Errorf("the person is sent %+v", m)
	}
}

// TestTheInboxOfAnAgentThatWasRemovedIsNoAlert: nobody can read what is left in it.
func TestTheInboxOfAnAgentThatWasRemovedIsNoAlert(t *testing.T) {
	t.Parallel()
	st := newStage(t, &story{})
	st.leaves()
	if a := st.await("inbox-old", true, later); a.Agent != "coder" {
		t.Errorf("raised: %+v", a)
	}
	if _, err := st.boss.RemoveAgent(t.Context(), "coder"); err != nil {
		t.Fatal(err)
	}
	st.await("inbox-old", false, most{8, time.Minute})
	st.advance(2 * time.Hour)
	if a, raised := st.found("inbox-old"); raised {
		t.Errorf("raised again: %+v", a)
	}
}

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
