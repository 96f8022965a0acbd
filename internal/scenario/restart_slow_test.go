//go:build slow || outside

package scenario

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func TestAClockThatJumpsDoesNoHarm(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			story(t, func(h *harness) {
				h.join("ann", "backup", "cyd")
				h.register("bob", agents.AgentSpec{Fallbacks: []string{"backup"}})
				r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "steady", Start: true})
				h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
				work := h.accept("bob", h.wait("bob"))
				other := h.create(h.agent("ann"), tasks.CreateInput{Intent: "in flight", Send: &handoffs.SendInput{To: []string{"cyd"}}})
				h.skew.Store(int64(jump))
				time.Sleep(5 * time.Second)
				h.progress("bob", work.Receipt, "still here")
				now := h.task(r.Task)
				if now.Owner != "bob" || now.Epoch != work.Epoch || now.State != event.Executing {
					h.Fatalf("after the jump: %s owned by %s with epoch %d", now.State, now.Owner, now.Epoch)
				}
				h.skew.Store(0)
				time.Sleep(5 * time.Second)
				h.complete("bob", work.Receipt, "done")
				if s := h.task(other.Task).State; s != event.HandingOff && s != event.Parked {
					h.Errorf("the handoff in flight ended as %s", s)
				}
			})
		})
	}
}
