package figure

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// answers are what is known of how an agent answers offers.
type answers struct {
	last    time.Time     // when it accepted or rejected one
	number  int           // of answers without a week between two, as far as it matters
	slowest time.Duration // that it had an offer until it answered, in the week before
	slow    time.Time     // when that was
}

const (
	answering = 7 * 24 * time.Hour // for how long an agent that has answered an offer is known to answer offers
	answered  = 5                  // answers after which it is known how much time an agent takes
	hasty     = time.Minute        // what has less time leaves an agent too little, however fast it is
)

// answer notes that an agent accepts or rejects an offer.
func (c *count) answer(agent string, f *flight) {
	k := [2]string{c.workspace, agent}
	a, known := c.answered[k]
	if !known {
		if c.agent(c.workspace, agent) == Other {
			return
		}
		k[1] = strings.Clone(agent)
	}
	now := c.e.Time
	if now.Sub(a.last) > answering {
		a.number = 0
	}
	a.number = min(a.number+1, answered)
	if took := now.Sub(f.offered); !f.offered.IsZero() && (took >= a.slowest || now.Sub(a.slow) > answering) {
		a.slowest, a.slow = took, now
	}
	if a.last.Before(now) {
		a.last = now
	}
	c.answered[k] = a
}

// fellSilent reports whether a handoff failed because its receiver, which has answered offers lately, answers nobody's any more: that is not the
// sender's doing, as far as the record tells.
func (c *count) fellSilent(f *flight) bool {
	last := c.answered[[2]string{c.workspace, f.Agent}].last
	return f.silent && !last.IsZero() && !last.After(f.offered) && c.e.Time.Sub(last) <= answering
}

// allows is how much time offers have; 0 if a receiver that has seen one has less than by default.
func allows(times event.Timeouts) time.Duration {
	if times.Ack < (event.Timeouts{}).WithDefaults().Ack {
		return 0
	}
	return time.Duration(times.Offer)
}

// hurried is the principal whose doing it is that a handoff got no answer, because it gave the receiver less time than by default: less than a minute, or
// than twice the time that the receiver took at most. It is "" if there is none.
func (c *count) hurried(f *flight) string {
	if !f.silent {
		return ""
	}
	a := c.answered[[2]string{c.workspace, f.Agent}]
	if a.number >= answered && f.allowed >= max(hasty, 2*a.slowest) {
		return ""
	}
	return f.hurried
}
