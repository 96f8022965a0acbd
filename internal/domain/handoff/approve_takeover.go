package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// ApproveTakeover gives the task to an agent that asked for it, as its source or an operator.
type ApproveTakeover struct {
	By       identity.Principal
	Epoch    uint64
	Takeover int
	Detail   string // why, for the agent that takes it over
	Envelope event.Sealed
}

func (c ApproveTakeover) decide(t task.Task, now time.Time) ([]event.Event, error) {
	ask, err := openTakeover(t, c.By, c.Epoch, c.Takeover)
	if err := firstError(err, event.CheckField("detail", c.Detail)); err != nil {
		return nil, err
	}
	return taken(t, taking{agent: ask.By, reason: event.ReasonUserRequest, detail: ask.Detail, envelope: c.Envelope, by: c.By, why: c.Detail}, now)
}

func openTakeover(t task.Task, by identity.Principal, epoch uint64, n int) (task.TakeoverRequest, error) {
	if err := authority.RequireLive(t); err != nil {
		return task.TakeoverRequest{}, err
	}
	ask, err := task.OpenTakeover(&t, n)
	if err != nil {
		return ask, err
	}
	if err := authority.RequireSource(t, by, epoch); err != nil {
		return ask, err
	}
	if ask.By == by.Agent() {
		return ask, refusal.New(refusal.NotPermitted, "[start the task](task start), or ask somebody else", "nobody answers their own request")
	}
	return ask, nil
}
