//go:build slow && !race

package server

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// TestAnAgentThatAcceptsAndDiesIsOneAlertUntilItEndsATask: for 15 hours, with one sender, and with several. Tasks that it makes and completes itself in between end nothing.
func TestAnAgentThatAcceptsAndDiesIsOneAlertUntilItEndsATask(t *testing.T) {
	t.Parallel()
	for _, senders := range []int{1, 3} {
		st := newStage(t, &story{})
		coder := st.coder()
		var by []*client.Client
		for n := range senders {
			by = append(by, st.as(fmt.Sprint("sender", n), client.AgentSpec{}))
		}
		lost := 0
		for n := range 30 {
			r, err := by[n%senders].CreateTask(t.Context(), client.CreateInput{Intent: "work", Send: &client.SendInput{To: []string{"coder"}, Retries: new(int)}})
			if err == nil {
				if _, err := coder.Accept(t.Context(), r.Handoff, client.AcceptInput{}); err == nil {
					lost++
				}
			}
			st.advance(31 * time.Minute)
			own, err := coder.CreateTask(t.Context(), client.CreateInput{Intent: "its own work", Start: true}) // which shows nothing
			if err != nil {
				t.Fatal(err)
			}
			st.completes(coder, own)
		}
		if lost < 10 {
			t.Fatalf("%d senders: it lost only %d tasks", senders, lost)
		}
		for _, name := range []string{"circuit-open", "agent-fails"} {
			if events, _ := st.entries(name); !slices.Equal(events, []string{"raised"}) {
				t.Errorf("%d senders, %s: %q", senders, name, events)
			}
		}
		if shown, err := st.boss.Agent(t.Context(), "coder"); err != nil || shown.Circuit.State == "closed" && len(shown.SenderCircuits) == 0 {
			t.Errorf("%d senders: %v: %+v", senders, err, shown)
		}
		st.advance(time.Hour)
		for range 2 {
			for _, sender := range by { // the probe of each, which it ends
				if r, err := sender.CreateTask(t.Context(), client.CreateInput{Intent: "work", Send: &client.SendInput{To: []string{"coder"}, Retries: new(int)}}); err == nil {
					st.takes(coder, r.Handoff)
				}
				st.advance(3 * time.Minute)
			}
		}
		for _, name := range []string{"circuit-open", "agent-fails"} {
			if events, _ := st.entries(name); !slices.Equal(events, []string{"raised", "recovered"}) {
				t.Errorf("%d senders, after a task that it ended, %s: %q", senders, name, events)
			}
		}
	}
}
