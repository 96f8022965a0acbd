//go:build slow || outside

package scenario

import (
	"fmt"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestEachOfAThousandThatWaitIsToldOfItsOwnTask(t *testing.T) {
	bubble(t, "distributed", func(h *harness) {
		h.register("lead", agents.AgentSpec{MaxTasks: 2000})
		made := make([]taskstore.Receipt, 1000)
		waits := make([]<-chan looked, len(made))
		together(len(made), func(n int) {
			made[n] = h.create(h.agent("lead"), tasks.CreateInput{Intent: fmt.Sprint(n), Start: true})
			waits[n] = h.look(h.operator(), tasks.TaskInput{ID: made[n].Task, Wait: tasks.MaxWait})
		})
		together(len(made), func(n int) { h.complete("lead", made[n], fmt.Sprint(n)) })
		for n, w := range waits {
			if l := <-w; l.err != nil || l.task.ID != made[n].Task || l.task.State != event.Completed {
				h.Fatalf("%s: %s, %v", made[n].Task, l.task.State, l.err)
			}
		}
	})
}
