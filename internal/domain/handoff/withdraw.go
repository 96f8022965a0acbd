package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Withdraw ends the handoff in flight, as its source or an operator. What an operator takes from the owner, only operators call off.
type Withdraw struct {
	By      identity.Principal
	Epoch   uint64
	Handoff int
	Detail  string
}

func (c Withdraw) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := firstError(authority.Over(t, c.By, c.Handoff), authority.RequireSource(t, c.By, c.Epoch)); err != nil {
		return nil, err
	}
	if err := event.CheckField("detail", c.Detail); err != nil {
		return nil, err
	}
	if err := authority.RequireOwnRequest(t, c.By); err != nil {
		return nil, err
	}
	why := attributed("withdrawn", c.By, c.Detail)
	return []event.Event{task.Returned(&t, event.Withdrawn, why, c.By.String() != t.SourcePrincipal(), now)}, nil
}
