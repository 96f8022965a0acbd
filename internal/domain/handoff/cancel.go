package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Cancel cancels the task: by its owner, its requester, an operator, or a parent that no longer needs it.
type Cancel struct {
	By     identity.Principal
	Epoch  uint64 // 0: any
	Detail string
}

func (c Cancel) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := authority.RequireLive(t); err != nil && t.State != event.Cancelled {
		return nil, err
	}
	owner := c.By.Agent() != "" && c.By.Agent() == t.Owner
	if !owner && c.By.String() != t.Requester && !c.By.IsOperator() && !c.By.IsSystem() {
		return nil, refusal.New(refusal.NotOwner, "ask its owner, its requester or an operator", "%s cannot cancel task %s", c.By.Short(), t.ID)
	}
	if t.State == event.Cancelled {
		return nil, nil
	}
	if c.By.String() != t.Requester {
		if err := authority.RequireOwnRequest(t, c.By); err != nil {
			return nil, err
		}
	}
	if c.Epoch != 0 {
		if err := authority.RequireEpoch(t, c.Epoch); err != nil {
			return nil, err
		}
	}
	if err := event.CheckField("detail", c.Detail); err != nil {
		return nil, err
	}
	return []event.Event{event.Called{By: c.By.Short(), Detail: c.Detail, At: now}}, nil
}
