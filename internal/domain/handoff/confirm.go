package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Confirm releases the task: the third message, by the source, for a handoff with explicit confirmation. It may carry an
// envelope with last notes, whose parent is the accepted one.
type Confirm struct {
	By       identity.Principal
	Epoch    uint64
	Handoff  int
	Envelope event.Sealed
}

func (c Confirm) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := firstError(authority.Over(t, c.By, c.Handoff), authority.RequireSource(t, c.By, c.Epoch)); err != nil {
		return nil, err
	}
	h := t.InFlight()
	if h.Stage != event.Accepted {
		return nil, refusal.New(refusal.Conflict, "[fetch the handoff](handoff show) and look at its stage", "handoff %s does not wait for a confirmation",
			event.HandoffID(t.ID, c.Handoff))
	}
	d := decision{t: t}
	e := event.Confirmed{Handoff: h.N, By: c.By.Short()}
	if c.Envelope.Digest != "" {
		if h.Kind == event.Supervised {
			return nil, refusal.New(refusal.NotPermitted, "confirm without notes", "handoff %s was approved as it is: it takes no more notes",
				h.ID(t.ID))
		}
		if err := requireNewest(t, c.Envelope); err != nil {
			return nil, err
		}
		d.do(c.Envelope)
		e.Envelope = c.Envelope.Digest
	}
	d.do(e)
	d.do(moved(d.t, now))
	return d.events, nil
}
