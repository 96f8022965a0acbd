package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// EndDependency tells a task that one of its dependencies has ended. It is safe to repeat.
type EndDependency struct {
	Task  string
	State event.State
}

func (c EndDependency) decide(t task.Task, now time.Time) ([]event.Event, error) {
	for _, dep := range t.Dependencies {
		if dep.Task != c.Task || dep.State.Final() || !c.State.Final() || t.State.Final() {
			continue
		}
		events := []event.Event{task.Met(&t, event.DependencyEnded{Task: c.Task, State: c.State}, now)}
		if c.State != event.Completed && t.State != event.Parked {
			events = append(events, park(event.ParkDependency, "task "+c.Task+" is "+string(c.State), now))
		}
		return events, nil
	}
	return nil, nil
}
