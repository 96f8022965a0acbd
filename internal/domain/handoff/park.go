package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Park moves a task that the server could not process, for example send, to the dead letters, as the server. A dead letter is a task in the state parked.
type Park struct {
	By  identity.Principal
	Why string
}

func (c Park) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := authority.RequireLive(t); err != nil {
		return nil, err
	}
	if !c.By.IsSystem() {
		return nil, refusal.New(refusal.NotPermitted, "[cancel it](task cancel) instead", "%s cannot park a task", c.By.Short())
	}
	if t.State == event.Parked {
		return nil, nil
	}
	return []event.Event{park(event.ParkReturned, c.Why, now)}, nil
}
