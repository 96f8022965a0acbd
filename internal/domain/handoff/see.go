package handoff

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// See records that a receiver has seen its offer: it fetched it, or a push was delivered. The acknowledgment clock starts.
// A repeat changes nothing.
type See struct {
	Agent   string
	Handoff int
	Offer   int // 0: the newest
}

func (c See) decide(t task.Task, now time.Time) ([]event.Event, error) {
	h, err := authority.OpenOffer(t, c.Agent, c.Handoff, c.Offer)
	if err != nil {
		return nil, err
	}
	if slices.Contains(h.SeenBy, c.Agent) {
		return nil, nil
	}
	e := event.Seen{Handoff: h.N, Offer: h.Offer, Agent: c.Agent}
	if len(h.To) == 1 && !h.OpenClaim() && !h.Candidates[h.Next].Human { // people have the offer clock only
		e.Ends = h.Times.Ack.After(now)
	}
	return []event.Event{e}, nil
}
