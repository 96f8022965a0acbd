package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Keep records that routing was asked for a receiver, and why the task stays where it is. It changes nothing else.
type Keep struct{ Decision event.Decision }

func (c Keep) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	if err := authority.RequireLive(t); err != nil {
		return nil, err
	}
	return []event.Event{event.Kept{Decision: c.Decision}}, nil
}
