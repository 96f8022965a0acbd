package handoff

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Lift removes a constraint, as the principal that set it or an operator; or as the requester, if agents added it to this task. With
// TightenedBy it removes only what that principal has tightened of it: see [task.Lift].
type Lift struct {
	By          identity.Principal
	ID          string
	TightenedBy string // a principal; empty: the whole
	Why         string
	Parent      event.Lifted // by the server: follow this lift in the parent task
}

func (c Lift) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := authority.RequireLive(t); err != nil {
		return nil, err
	}
	if c.By.IsSystem() {
		return c.follow(t, now), nil
	}
	e, err := task.Lift(&t, c.ID, c.TightenedBy, c.By.String())
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(c.Why) == "" {
		return nil, refusal.New(refusal.Invalid, "say why", "lifting a constraint needs a reason")
	}
	if err := refusal.In("why", event.CheckText("the reason", c.Why, event.MaxText)); err != nil {
		return nil, err
	}
	e.Why, e.At = c.Why, now
	return []event.Event{e}, nil
}

// follow lifts what the task inherited of what was lifted in its parent task.
func (c Lift) follow(t task.Task, now time.Time) (events []event.Event) {
	for i := range t.Constraints {
		if e := task.Free(&t, i, c.Parent); e.ID != "" {
			e.At = now
			events = append(events, e)
		}
	}
	return events
}
