//go:build slow || outside

package scenario

import (
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// The last agent that is left for a task may not be running: the offer waits for it, as it would have if it had been the first.
func TestATaskWhoseLastFallbackIsNotRunningWaitsForIt(t *testing.T) {
	for name, refuses := range map[string]func(*harness){
		"rejected":     func(h *harness) { h.reject("coder", h.wait("coder"), event.Overloaded) },
		"not answered": func(*harness) {},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(h *harness) {
				h.join("lead", "backup")
				h.register("coder", agents.AgentSpec{Fallbacks: []string{"backup"}})
				h.ready("coder", agent.Ready)
				h.ready("backup", agent.Offline)
				one := 1
				r := h.create(h.agent("lead"), tasks.CreateInput{
					Intent: "build", Timeouts: event.Timeouts{Offer: event.Duration(time.Minute)}, Send: &handoffs.SendInput{To: []string{"coder"}, Retries: &one},
				})
				if !slices.Equal(r.To, []string{"coder"}) {
					h.Fatalf("offered to %v", r.To)
				}
				refuses(h)
				h.ready("backup", agent.Ready) // it is started again
				if got := h.accept("backup", h.wait("backup")); got.Owner != "backup" {
					h.Errorf("%+v", got)
				}
			})
		})
	}
}
