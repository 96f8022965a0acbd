package figure

import (
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// answers are what is known of how an agent answers offers.
type answers struct {
	last    time.Time     // when it accepted or rejected one
	number  int           // of answers without a week between two, as far as it matters
	slowest time.Duration // that it had an offer until it answered, in the week before
	slow    time.Time     // when that was
	missed  []failure     // offers in a row that ended before it looked at them
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
	a.missed = nil
	c.answered[k] = a
}

// looks notes that an agent is there: it looks at its offers, or a call of it or of an operator says so.
func (t *Tally) looks(workspace, agent string) {
	k := [2]string{workspace, agent}
	if a, known := t.answered[k]; known && a.missed != nil {
		a.missed = nil
		t.answered[k] = a
	}
}

// missed notes that an offer ended before its receiver looked at it. Those that had less than a minute say nothing of the receiver.
func (c *count) missed(f *flight) {
	if f.target == "" || f.looked || time.Duration(f.times.Offer) < hasty || c.agent(c.workspace, f.target) == Other {
		return
	}
	k := [2]string{c.workspace, strings.Clone(f.target)}
	a := c.answered[k]
	n := 1
	if len(a.missed) > 0 {
		n += a.missed[len(a.missed)-1].count
	}
	a.missed = append(a.missed[max(len(a.missed)-maxFailures+1, 0):], failure{event.HandoffID(c.id, f.N), c.w.from, false, n, c.e.Time})
	c.answered[k] = a
}

// Missed is how many offers in a row an agent did not look at, the last of them in the last day, since when there are as many as least, and the
// handoffs and senders behind them.
func (t *Tally) Missed(workspace, name string, least int, now time.Time) (c alert.Condition) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.answered[[2]string{workspace, t.identity(workspace, name)}].missed
	if len(list) == 0 || now.Sub(list[len(list)-1].at) > Window {
		return c
	}
	c.Value = float64(list[len(list)-1].count)
	var by accounts
	for i := range list {
		f := &list[len(list)-1-i]
		if len(c.Handoffs) < Behind && !slices.Contains(c.Handoffs, f.handoff) {
			c.Handoffs = append(c.Handoffs, f.handoff)
		}
		if f.count >= least || c.Since.IsZero() {
			c.Since = f.at
		}
		by.add(party{sender: f.sender}, account{wrong: 1})
	}
	c.Causes = by.worst()
	c.Senders = c.Causes
	return c
}

// fellSilent reports whether a handoff failed because its receiver, which has answered offers lately, answers nobody's any more: that is not the
// sender's doing, as far as the record tells.
func (c *count) fellSilent(f *flight) bool {
	last := c.answered[[2]string{c.workspace, f.Agent}].last
	return f.silent && !last.IsZero() && !last.After(f.offered) && c.e.Time.Sub(last) <= answering
}

// hurried is the principal whose doing it is that a handoff got no answer, because it gave the receiver less time than by default: less than a minute, or
// than twice the time that the receiver took at most. It is "" if there is none.
func (c *count) hurried(f *flight) string {
	if !f.silent {
		return ""
	}
	a := c.answered[[2]string{c.workspace, f.Agent}]
	if f.times.Ack >= (event.Timeouts{}).WithDefaults().Ack && a.number >= answered && time.Duration(f.times.Offer) >= max(hasty, 2*a.slowest) {
		return ""
	}
	return f.hurried
}
