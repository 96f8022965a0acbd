package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// sentAway is a task that its requester has sent without owning it.
func (h *harness) sentAway(requester, to string) taskstore.Receipt {
	h.Helper()
	return h.create(h.agent(requester), tasks.CreateInput{Intent: "review it", Send: &handoffs.SendInput{To: []string{to}}})
}

// parked waits for the dead letters, and wants the words of the reason.
func (h *harness) parked(id string, words ...string) {
	h.Helper()
	t := h.inState(id, event.Parked)
	for _, w := range words {
		if !strings.Contains(t.Parked.Detail, w) {
			h.Errorf("parked because %q; nothing of %q", t.Parked.Detail, w)
		}
	}
}

func TestARejectedTaskThatItsRequesterNeverTakesUpEndsInTheDeadLetters(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "bob")
		r := h.sentAway("lead", "bob")
		h.reject("bob", h.wait("bob"), event.NotCapable)
		back := h.task(r.Task)
		if back.State != event.Pending || back.TakeUpBy.IsZero() {
			h.Fatalf("%s, to be taken up by %s", back.State, back.TakeUpBy)
		}
		time.Sleep(time.Until(back.TakeUpBy) - time.Minute)
		if now := h.task(r.Task); now.State != event.Pending {
			h.Fatalf("%s before its time", now.State)
		}
		h.parked(r.Task, "lead requested it", "bob turned it down")
	})
}
