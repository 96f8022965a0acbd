package server

import (
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
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

// TestNoticesThatNobodyLooksAtAreNoAlert: an agent is told that a task of its own was cancelled, another that one was taken from it:
// they need to do nothing about it.
func TestNoticesThatNobodyLooksAtAreNoAlert(t *testing.T) {
	t.Parallel()
	st := newStage(t, &story{})
	for name, end := range map[string]func(task string) error{
		"coder": func(task string) error {
			_, err := st.boss.Cancel(t.Context(), task, client.CancelInput{Detail: "not needed"})
			return err
		},
		"tester": func(task string) error {
			_, err := st.boss.Takeover(t.Context(), task, client.TakeoverInput{To: "lead"})
			return err
		},
	} {
		got, err := st.as(name, client.AgentSpec{}).Accept(t.Context(), st.hands(name, client.CreateInput{}, client.SendInput{}).Handoff, client.AcceptInput{})
		if err == nil {
			err = end(got.Task)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if box, err := st.boss.Inbox(t.Context(), client.InboxOptions{Agent: "coder"}); err != nil || len(box.Items) != 1 || box.Items[0].Type != "cancelled" {
		t.Fatalf("%v: %+v", err, box)
	}
	st.advance(2 * time.Hour)
	if a, raised := st.raised()["inbox-old:coder"]; raised {
		t.Errorf("%+v", a)
	}
	if a, raised := st.raised()["inbox-old:tester"]; raised {
		t.Errorf("%+v", a)
	}
}
