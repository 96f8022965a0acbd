package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Claim claims a ticket. A question or an approval is then reserved for the claimant for a quarter of the desk's time. With
// a takeover the claimant becomes the owner of the task.
type Claim struct {
	By       identity.Principal
	Serves   []string // the desks of a person
	Ticket   int
	Agent    string       // of a takeover: the agent that the person is registered as; empty: none
	Envelope event.Sealed // of a takeover: what goes with the task
}

func (c Claim) decide(t task.Task, now time.Time) ([]event.Event, error) {
	k, err := served(t, c.By, c.Serves, c.Ticket, now)
	if err != nil {
		return nil, err
	}
	mine := k.State == event.TicketStateClaimed && samePerson(c.By, k.ClaimedBy)
	if k.Kind != event.TicketTakeover {
		if mine && now.Before(k.Kept) {
			return nil, nil
		}
		ends := now.Add(time.Duration(k.Span) / 4)
		return []event.Event{event.TicketClaimed{Ticket: k.N, By: c.By.Short(), Ends: ends, At: now}}, nil
	}
	switch {
	case mine || k.State == event.TicketStateClaimed && k.ClaimedBy == c.Agent:
		return nil, nil
	case k.State == event.TicketStateClaimed:
		return nil, refusal.New(refusal.Conflict, "ask them, or an operator, to [release it](ticket release)", "%s has taken task %s over", k.ClaimedBy, t.ID)
	case c.Agent == "":
		return nil, refusal.New(refusal.NotPermitted, "have [an agent of kind human in your name](agent add .kind=human)",
			"a task is taken over by a person who is registered as an agent")
	}
	return c.taken(t, k, now)
}

// taken makes the claimant the owner: all messages of a transfer in one decision. It counts against no limit but the
// visits of one person.
func (c Claim) taken(t task.Task, k *task.Ticket, now time.Time) ([]event.Event, error) {
	if visits, _ := t.Visits(c.Agent); visits >= t.Limits.Visits {
		return nil, refusal.New(refusal.Limit, "leave it to somebody else, or deny it", "%s has had task %s %d times", c.Agent, t.ID, visits)
	}
	came := t.Handoff // to the desk; another one if somebody has had it since
	if came == nil || came.N != k.Handoff {
		came = &task.Handoff{Times: t.Times}
	}
	approved := came.Kind == event.Supervised // the envelope that was approved moves, and no other
	if approved {
		c.Envelope = event.Sealed{}
	}
	if c.Envelope.Digest == "" && t.Envelope == "" {
		return nil, refusal.New(refusal.Invalid, "give the digest of a sealed envelope", "a takeover needs an envelope")
	}
	if err := requireNewest(t, c.Envelope); err != nil {
		return nil, err
	}
	d := decision{t: t}
	due := k.Span.After(now)
	d.do(event.TicketClaimed{Ticket: k.N, By: c.Agent, Due: due, At: now})
	if c.Envelope.Digest != "" {
		d.do(c.Envelope)
	}
	e := event.HandoffRequested{
		Handoff: d.t.NextHandoff(), Kind: event.Warm, From: t.Source(), Reason: event.ReasonEscalation, Ticket: k.N,
		Detail: "taken from the desk " + k.Desk, Candidates: []event.Candidate{{Agent: c.Agent, Tier: event.TierTarget, Human: true}}, Confirm: event.ConfirmAuto,
		Timeouts: came.Times, Envelope: d.t.Envelope, Permissions: came.Permits, RouteStep: came.RouteStep, Pack: came.Pack,
		By: c.By.String(), Before: t.Standing(), At: now,
	}
	if approved {
		e.Envelope = came.Envelope
	}
	d.do(e)
	h := d.t.Handoff
	d.do(event.OfferMade{Handoff: h.N, Offer: 1, To: []string{c.Agent}, Tier: event.TierTarget, Ends: h.Times.Offer.After(now)},
		event.Acknowledged{Handoff: h.N, Offer: 1, Agent: c.Agent}, event.Confirmed{Handoff: h.N, By: h.From, Auto: true})
	end := moved(d.t, now)
	end.Hop, end.Lease = false, due
	d.do(end)
	return d.events, nil
}
