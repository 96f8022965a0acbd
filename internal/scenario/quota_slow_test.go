//go:build slow || outside

package scenario

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func TestOpenTasksAreNotCountedAtEachCreation(t *testing.T) {
	bubble(t, sound(), func(h *harness) {
		h.join("ann")
		counted := h.bounded(0)
		for range 100 {
			h.create(h.agent("ann"), tasks.CreateInput{Intent: "many"})
		}
		if n := counted.asked.Load(); n < 1 || n > 3 {
			h.Errorf("100 tasks within a moment were counted %d times", n)
		}
	})
}
