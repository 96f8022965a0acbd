package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Render records the envelope that the server packed for one receiver of an offer or a share. The first one recorded
// counts; a repeat changes nothing.
type Render struct {
	By        identity.Principal // the server, or the receiver, for whom the server packs
	Handoff   int                // this, or the share
	Offer     int                // 0: the newest
	Share     int
	Agent     string
	Rendition event.Rendered // handoff, offer, share and agent come from the command
}

func (c Render) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	if !c.By.IsSystem() && (c.By.Agent() == "" || c.By.Agent() != c.Agent) {
		return nil, refusal.New(refusal.NotPermitted, "use your own credential", "%s cannot fetch an envelope for another agent", c.By.Short())
	}
	e := c.Rendition
	var source, rendition string
	if c.Share > 0 {
		s, err := shared(t, c.Agent, c.Share)
		if err != nil {
			return nil, err
		}
		e.Handoff, e.Offer, e.Share = 0, 0, s.N
		source, rendition = s.Envelope, s.Rendition
	} else {
		h, err := rendersFor(t, c.Agent, c.Handoff, c.Offer)
		if err != nil {
			return nil, err
		}
		e.Handoff, e.Offer, e.Share = h.N, h.Offer, 0
		source, rendition = h.Envelope, h.Rendition
	}
	e.Agent = c.Agent
	if rendition != "" {
		return nil, nil
	}
	if err := e.Check(); err != nil {
		return nil, err
	}
	if e.Source != source {
		return nil, refusal.New(refusal.Conflict, "pack its current envelope", "%s was given another envelope", c.Agent)
	}
	return []event.Event{e}, nil
}

// rendersFor returns the handoff whose envelope is packed for an agent: the single receiver of the open offer, or the agent
// that has accepted. The context of a claim is given to nobody before it is accepted.
func rendersFor(t task.Task, agent string, handoff, offer int) (*task.Handoff, error) {
	h := t.Handoff
	taken := h != nil && (h.Stage == event.Accepted || h.Stage == event.Transferred) && h.N == handoff && h.Receiver == agent
	if taken && authority.RequireLive(t) == nil && (offer == 0 || offer == h.Offer) && (h.Stage == event.Accepted || t.Owner == agent) {
		return h, nil
	}
	h, err := authority.OpenOffer(t, agent, handoff, offer)
	if err == nil && h.OpenClaim() {
		return nil, refusal.New(refusal.Conflict, "[accept the offer](accept) first", "handoff %s is open to several agents", h.ID(t.ID))
	}
	return h, err
}
