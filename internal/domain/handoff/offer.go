package handoff

import (
	"fmt"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/event/backoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// offered returns the handoff with the open offer that an agent answers. An agent that was too slow, and would get the offer
// again after a pause, gets it now: a model may think for longer than the acknowledgment clock runs.
func (d *decision) offered(agent string, handoff, offer int, now time.Time) (*task.Handoff, error) {
	if h := d.t.Handoff; h != nil && h.N == handoff && h.Stage == event.Requested && authority.RequireLive(d.t) == nil && !h.RetryAt.IsZero() && !h.Claim &&
		(offer == 0 || offer == h.Offer) && h.Next < len(h.Candidates) && h.Candidates[h.Next].Agent == agent && agent != "" {
		d.offerAgain(Hints{}, now)
		offer = d.t.Handoff.Offer
	}
	return authority.OpenOffer(d.t, agent, handoff, offer)
}

// offerFrom makes the next offer, to the first fit candidate from index start on. It reports whether it made one, and the
// candidates that were passed over, after those in passed.
func (d *decision) offerFrom(start int, passed []event.Passed, hints Hints, now time.Time) ([]event.Passed, bool) {
	h := d.t.Handoff
	offer := event.OfferMade{Handoff: h.N, Offer: h.Offer + 1, Passed: slices.Clip(passed), Ends: h.Times.Offer.After(now)}
	if h.Claim && start == 0 {
		for ; start < len(h.Candidates) && h.Candidates[start].Tier == event.TierTarget && !h.Candidates[start].IsDesk(); start++ {
			agent := h.Candidates[start].Agent
			if why := hints.Unfit[agent]; why != "" {
				offer.Passed = append(offer.Passed, event.Passed{Agent: agent, Why: why})
				continue
			}
			offer.To = append(offer.To, agent)
		}
		if len(offer.To) > 0 {
			offer.Tier, offer.Next = event.TierTarget, start-1
			d.do(offer)
			return offer.Passed, true
		}
	}
	for i := start; i < len(h.Candidates); i++ {
		c := h.Candidates[i]
		if c.IsDesk() { // people may always be asked
			d.toDesk(i, offer.Passed, now)
			return offer.Passed, true
		}
		why := hints.Unfit[c.Agent]
		if d.t.Climbs(c, offer.Offer, 0) && d.t.Used.Escalations >= d.t.Limits.Escalations {
			why = fmt.Sprintf("escalation depth limit %d reached", d.t.Limits.Escalations)
		}
		if why != "" {
			offer.Passed = append(offer.Passed, event.Passed{Agent: c.Agent, Why: why})
			continue
		}
		offer.To, offer.Tier, offer.Next, offer.Ends = []string{c.Agent}, c.Tier, i, h.EndOfOffer(c, now)
		d.do(offer)
		return offer.Passed, true
	}
	return offer.Passed, false
}

// waits delays a handoff that the server goes on with, which nobody would repeat later, and reports whether it did.
func (d *decision) waits(hints Hints, now time.Time) bool {
	retry, ok := d.t.Handoff.Wait(hints.Full, hints.Later, hints.Jitter, now)
	if ok {
		d.do(retry)
	}
	return ok
}

// offerAgain repeats the offer to the present candidate, if it is still fit, or goes to the next one.
func (d *decision) offerAgain(hints Hints, now time.Time) {
	h := d.t.Handoff
	c := h.Candidates[h.Next]
	if why := hints.Unfit[c.Agent]; why != "" {
		d.nextOrEnd(failure{}, []event.Passed{{Agent: c.Agent, Why: why}}, hints, now)
		return
	}
	d.do(event.OfferMade{
		Handoff: h.N, Offer: h.Offer + 1, To: []string{c.Agent}, Tier: c.Tier, Next: h.Next, Try: h.Tries,
		Ends: h.EndOfOffer(c, now),
	})
}

// unanswered follows an offer that its receiver saw and did not answer: it is repeated after a pause, or goes to the next.
func (d *decision) unanswered(hints Hints, now time.Time) {
	h := d.t.Handoff
	if h.Tries >= h.Retries {
		d.nextOrEnd(failure{why: h.Candidates[h.Next].Agent + " saw the offer and did not answer in time"}, nil, hints, now)
		return
	}
	try := h.Tries + 1
	d.do(event.RetryScheduled{Handoff: h.N, Agent: h.Candidates[h.Next].Agent, Try: try, At: now.Add(backoff.Pause(try, hints.Jitter))})
}

// failure is why the last offer failed; zero: the candidates that are passed over say it.
type failure struct {
	why      string
	rejected bool
}

// nextOrEnd offers to the next candidate. If none is left, a rejected handoff ends with the task at its source (see
// [backToSource]), and any other in the dead letters or, with ReturnHome, at its source.
func (d *decision) nextOrEnd(last failure, passed []event.Passed, hints Hints, now time.Time) {
	h := d.t.Handoff
	passed, ok := d.offerFrom(h.Next+1, passed, hints, now)
	if ok || d.waits(hints, now) {
		return
	}
	why := fmt.Sprintf("no receiver left; offers made: %d", h.Offer)
	if last.why != "" {
		why = last.why + "; " + why
	}
	if len(passed) > 0 {
		why += "; passed over: " + event.WhyPassed(passed)
	}
	switch {
	case h.Stuck && last.rejected:
		d.do(task.Returned(&d.t, event.Rejected, why, false, now))
	case h.Stuck: // its owner is alive
		d.do(task.Returned(&d.t, event.Undeliverable, why, false, now))
	case h.Recovery:
		d.do(park(event.ParkOwnerLost, "the owner "+h.From+" was lost; "+why, now))
	case last.rejected:
		d.do(backToSource(d.t, event.Rejected, why, now)...)
	case h.ReturnHome && (d.t.Owner != "" || d.t.Parent.Task == ""):
		d.do(task.Returned(&d.t, event.Undeliverable, why, false, now))
	default:
		d.do(park(event.ParkExhausted, why, now))
	}
}
