package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Park parks a task with which the server could not do what it must, such as sending it, so that somebody looks.
type Park struct {
	By  identity.Principal
	Why string
}

func (c Park) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := requireLive(t); err != nil {
		return nil, err
	}
	if !c.By.IsSystem() {
		return nil, refusal.New(refusal.NotPermitted, "cancel it instead", "%s cannot park a task", c.By.Short())
	}
	if t.State == event.Parked {
		return nil, nil
	}
	return []event.Event{park(event.ParkReturned, c.Why, now)}, nil
}
