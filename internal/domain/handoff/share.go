package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Share gives a sealed envelope to an agent without moving ownership.
type Share struct {
	By       identity.Principal
	Epoch    uint64
	To       string
	Detail   string
	Pack     event.Pack
	Envelope event.Sealed
}

// MayShare refuses a principal that could not share the task now with anybody.
func MayShare(t task.Task, by identity.Principal, epoch uint64) error {
	return authority.RequireSource(t, by, epoch)
}

func (c Share) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	if err := MayShare(t, c.By, c.Epoch); err != nil {
		return nil, err
	}
	if err := firstError(refusal.In("to", event.CheckAgent("an agent's name", c.To)), event.CheckField("detail", c.Detail), refusal.In("pack", c.Pack.Check())); err != nil {
		return nil, err
	}
	if len(t.Shares) >= event.MaxShares {
		return nil, refusal.New(refusal.Limit, "[hand the task off](send) instead", "task %s has been shared %d times", t.ID, event.MaxShares)
	}
	digest := t.Envelope
	var events []event.Event
	if c.Envelope.Digest != "" {
		if err := requireNewest(t, c.Envelope); err != nil {
			return nil, err
		}
		digest = c.Envelope.Digest
		events = append(events, c.Envelope)
	}
	if digest == "" {
		return nil, refusal.New(refusal.Invalid, "say what to share", "task %s has no envelope yet", t.ID)
	}
	return append(events, event.Shared{
		Share: len(t.Shares) + 1, From: t.Source(), To: c.To, Envelope: digest, Pack: c.Pack, Detail: c.Detail,
	}), nil
}
