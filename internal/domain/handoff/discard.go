package handoff

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Discard ends a task in the dead letters, for a reason.
type Discard struct {
	By  identity.Principal
	Why string
}

func (c Discard) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := requireParked(t, c.By); err != nil {
		return nil, err
	}
	if strings.TrimSpace(c.Why) == "" {
		return nil, refusal.New(refusal.Invalid, "say why it may be dropped", "discarding needs a reason")
	}
	if err := refusal.In("why", event.CheckText("the reason", c.Why, event.MaxText)); err != nil {
		return nil, err
	}
	return []event.Event{event.Discarded{By: c.By.Short(), Why: c.Why, At: now}}, nil
}
