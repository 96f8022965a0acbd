package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Deny ends a supervised handoff. The task stays with its source.
type Deny struct {
	By      identity.Principal
	Handoff int
	Detail  string
}

func (c Deny) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if _, err := approvable(t, c.By, c.Handoff, now); err != nil {
		return nil, err
	}
	if err := event.CheckField("detail", c.Detail); err != nil {
		return nil, err
	}
	why := attributed("denied", c.By, c.Detail)
	return append([]event.Event{event.Denied{By: c.By.Short(), Detail: c.Detail, At: now}}, backToSource(t, event.Rejected, why, now)...), nil
}
