package handoff

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Shed withdraws an open offer from an overloaded agent and makes it to other agents that have room. The offers of a claim
// and of an approved handoff stay, and so does one that none of the others can take.
type Shed struct {
	By      identity.Principal
	Agent   string
	Handoff int
	Offer   int      // 0: the newest
	To      []string // the other agents, best first
	Why     string
	Hints   Hints
}

func (c Shed) decide(t task.Task, now time.Time) ([]event.Event, error) {
	h, err := authority.OpenOffer(t, c.Agent, c.Handoff, c.Offer)
	if err != nil {
		return nil, err
	}
	switch {
	case !c.By.IsSystem() && !c.By.IsOperator() && c.By.Agent() != c.Agent:
		return nil, refusal.New(refusal.NotPermitted, "ask the agent or an operator", "%s cannot shed offers to %s", c.By.Short(), c.Agent)
	case h.OpenClaim():
		return nil, refusal.New(refusal.Conflict, "leave it: the first agent to accept gets it", "handoff %s is offered to others too", h.ID(t.ID))
	case h.Kind == event.Supervised:
		return nil, refusal.New(refusal.Conflict, "[reject it](reject), or let it wait", "handoff %s was approved for %s", h.ID(t.ID), c.Agent)
	}
	if err := refusal.In("why", event.CheckText("the reason", c.Why, event.MaxText)); err != nil {
		return nil, err
	}
	var to []string
	for _, agent := range c.To {
		asked := slices.ContainsFunc(h.Candidates[:h.Next+1], func(k event.Candidate) bool { return k.Agent == agent })
		why, _ := t.Barred(agent, false)
		if !asked && why == "" && c.Hints.Unfit[agent] == "" && !slices.Contains(to, agent) && len(h.Candidates)+len(to) < event.MaxCandidates {
			to = append(to, agent)
		}
	}
	if len(to) == 0 {
		return nil, nil
	}
	d := decision{t: t}
	d.do(event.OfferShed{Handoff: h.N, Offer: h.Offer, Agent: c.Agent, To: to, By: c.By.Short(), Why: c.Why})
	h = d.t.Handoff
	d.do(event.OfferMade{
		Handoff: h.N, Offer: h.Offer + 1, To: to[:1], Tier: event.TierFallback, Next: h.Next + 1, Reason: event.ReasonLoadShedding,
		Ends: h.Times.Offer.After(now),
	})
	return d.events, nil
}
