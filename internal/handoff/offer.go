package handoff

import (
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/internal/fact"
)

// MaxBackoff bounds the pause before a retry.
const MaxBackoff = 30 * time.Second

// backoff is the pause before the n-th retry: min(2^n s, 30 s), of which the jitter takes up to half.
func backoff(n int, jitter float64) time.Duration {
	d := MaxBackoff
	if n < 5 {
		d = min(time.Second<<n, MaxBackoff)
	}
	return d - time.Duration(min(max(jitter, 0), 1)*float64(d/2))
}

// offerFrom makes the next offer, trying candidates from the start-th on. It reports whether there was one.
func (d *turn) offerFrom(start int, hints Hints, now time.Time) bool {
	h := d.t.Handoff
	offer := fact.OfferMade{Handoff: h.N, Offer: h.Offer + 1, Ends: h.Times.Offer.After(now)}
	if h.Claim && start == 0 {
		for ; start < len(h.Candidates) && h.Candidates[start].Tier == fact.TierTarget; start++ {
			agent := h.Candidates[start].Agent
			if why := hints.Unfit[agent]; why != "" {
				offer.Passed = append(offer.Passed, fact.Passed{Agent: agent, Why: why})
				continue
			}
			offer.To = append(offer.To, agent)
		}
		if len(offer.To) > 0 {
			offer.Tier, offer.Next = fact.TierTarget, start-1
			d.do(offer)
			return true
		}
	}
	for i := start; i < len(h.Candidates); i++ {
		c := h.Candidates[i]
		why := hints.Unfit[c.Agent]
		if c.Tier == fact.TierEscalation && d.t.Used.Escalations >= d.t.Limits.Escalations {
			why = fmt.Sprintf("escalation depth limit %d reached", d.t.Limits.Escalations)
		}
		if why != "" {
			offer.Passed = append(offer.Passed, fact.Passed{Agent: c.Agent, Why: why})
			continue
		}
		offer.To, offer.Tier, offer.Next = []string{c.Agent}, c.Tier, i
		d.do(offer)
		return true
	}
	return false
}

// offerAgain repeats the offer to the present candidate, if it is still fit, or goes to the next one.
func (d *turn) offerAgain(hints Hints, now time.Time) {
	h := d.t.Handoff
	c := h.Candidates[h.Next]
	if hints.Unfit[c.Agent] != "" {
		d.nextOrEnd(false, hints, now)
		return
	}
	d.do(fact.OfferMade{
		Handoff: h.N, Offer: h.Offer + 1, To: []string{c.Agent}, Tier: c.Tier, Next: h.Next, Try: h.Tries,
		Ends: h.Times.Offer.After(now),
	})
}

// failedOffer follows an offer that its receiver did not answer or could not get: again after a pause, or on.
func (d *turn) failedOffer(agent string, hints Hints, now time.Time) {
	h := d.t.Handoff
	if h.Tries < h.Retries && !h.Claim {
		try := h.Tries + 1
		d.do(fact.RetryScheduled{Handoff: h.N, Agent: agent, Try: try, At: now.Add(backoff(try, hints.Jitter))})
		return
	}
	d.nextOrEnd(false, hints, now)
}

// nextOrEnd offers to the next candidate. Where none is left, a rejected handoff goes back to its source, and any
// other to the dead letters or, if the source said so, back.
func (d *turn) nextOrEnd(rejected bool, hints Hints, now time.Time) {
	h := d.t.Handoff
	if d.offerFrom(h.Next+1, hints, now) {
		return
	}
	why := fmt.Sprintf("no receiver left after %d offers", h.Offer)
	switch {
	case h.Recovery:
		d.do(park(fact.ParkOwnerLost, "the owner "+h.From+" was lost and "+why, now))
	case rejected:
		d.do(d.t.home(fact.Rejected, "rejected; "+why, now)...)
	case h.ReturnHome && d.t.Owner != "":
		d.do(d.t.returned(fact.Undeliverable, why, now))
	default:
		d.do(park(fact.ParkExhausted, why, now))
	}
}
