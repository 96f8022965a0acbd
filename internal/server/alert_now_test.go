package server

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

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
