package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// DenyTakeover refuses a request for a takeover, as the task's source or an operator.
type DenyTakeover struct {
	By       identity.Principal
	Epoch    uint64
	Takeover int
	Detail   string
}

func (c DenyTakeover) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	if _, err := openTakeover(t, c.By, c.Epoch, c.Takeover); err != nil {
		return nil, err
	}
	if err := event.CheckField("detail", c.Detail); err != nil {
		return nil, err
	}
	return []event.Event{event.TakeoverRefused{Takeover: c.Takeover, By: c.By.Short(), Detail: c.Detail}}, nil
}
