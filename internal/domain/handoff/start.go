package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Start makes the requester, an agent, the owner of its own pending task.
type Start struct {
	By identity.Principal
}

func (c Start) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := authority.RequireLive(t); err != nil {
		return nil, err
	}
	if t.State != event.Pending || t.Owner != "" {
		return nil, refusal.New(refusal.Conflict, "only a pending task can be started", "task %s is %s", t.ID, t.State)
	}
	if c.By.Agent() == "" || c.By.String() != t.Requester {
		return nil, refusal.New(refusal.NotOwner, "[hand it off](send) to an agent instead, or [act as one](act as)", "only an agent can start a task, and only its own")
	}
	if err := requireReady(t); err != nil {
		return nil, err
	}
	if why := t.Loop(c.By.Agent(), false); why != "" { // a child that its parent's owner wants to do itself
		return nil, refusal.New(refusal.Limit, "[hand it off](send "+t.ID+") to another agent, or [cancel it](task cancel "+t.ID+")", "%s", why)
	}
	return []event.Event{event.Started{Agent: c.By.Agent(), Lease: t.LeaseFrom(now)}}, nil
}
