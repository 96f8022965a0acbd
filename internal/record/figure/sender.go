package figure

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
)

// maxSenders is the number of senders that a minute tells apart; those beyond are one.
const maxSenders = 32

// rounding is what sums of shares may differ by.
const rounding = 1e-9

// restOfSenders are the senders that a minute does not tell apart. No agent can have that name.
const restOfSenders = "(others)"

// harm is how much went wrong with what each principal sent, or was sent: failed handoffs, or envelopes that lost their references, whole or in part. An
// offer that ended without an answer in less than the usual time is the principal's that allowed no more, what was lost before is the first loser's, and what was forgotten is whose who
// forgot it.
type harm map[string]float64

func (h *harm) add(sender string, by float64) {
	if by <= 0 || sender == "" {
		return
	}
	if *h == nil {
		*h = harm{}
	}
	if _, there := (*h)[sender]; !there && len(*h) >= maxSenders {
		sender = restOfSenders
	}
	(*h)[sender] += by
}

// plus adds another.
func (h harm) plus(o harm) {
	for who, n := range o {
		h[who] += n
	}
}

// running is what went wrong by one party, summed up from the first minute on.
type running struct {
	minutes []int64
	upTo    []float64 // with the minute
}

// within is the sum from a minute up to another, with both.
func (r *running) within(from, to int64) float64 {
	before := func(minute int64) float64 {
		if i, _ := slices.BinarySearch(r.minutes, minute); i > 0 {
			return r.upTo[i-1]
		}
		return 0
	}
	return before(to+1) - before(from)
}

// parties are those who may have caused what went wrong.
type parties struct {
	senders   map[string]*running // whose handoffs went wrong
	causes    map[string]*running // without what was the receivers' doing
	receivers map[string]*running
}

// harmOf is what went wrong in each minute that a figure is about; zero if the figure tells nobody apart. Envelopes have no receivers: what they lost is
// the same for each.
func (p *past) harmOf(figure string) parties {
	switch figure {
	case HandoffsFailed.Name:
		return parties{
			senders: p.summed(func(s *slot) harm { return s.failedBy }), causes: p.summed(func(s *slot) harm { return s.causedBy }),
			receivers: p.summed(func(s *slot) harm { return s.failedTo }),
		}
	case EnvelopeCompleteness.Name:
		return parties{senders: p.summed(func(s *slot) harm { return s.lostBy }), causes: p.summed(func(s *slot) harm { return s.lackedBy })}
	case TaskHops.Name:
		return parties{senders: p.summed(func(s *slot) harm { return s.hopsBy })}
	}
	return parties{}
}

// summed sums up the minutes.
func (p *past) summed(of func(*slot) harm) map[string]*running {
	all := map[string]*running{}
	for i := range p.slots {
		s := &p.slots[i]
		for sender, by := range of(s) {
			r := all[sender]
			if r == nil {
				r = &running{}
				all[sender] = r
			}
			if n := len(r.upTo); n > 0 {
				by += r.upTo[n-1]
			}
			r.minutes, r.upTo = append(r.minutes, s.minute), append(r.upTo, by)
		}
	}
	return all
}

// excess is by how much one agent did more harm than all others together, of a total; 0 if none did. People and programs, whose tokens operators
// make, may do all of it.
func (h harm) excess(total float64) float64 {
	most := 0.0
	for sender, by := range h {
		if !strings.Contains(sender, "/") {
			most = max(most, by)
		}
	}
	if n := most - (total - most); n > rounding {
		return n
	}
	return 0
}

// within is what went wrong by party in a window.
func within(of map[string]*running, window time.Duration, end time.Time) harm {
	from, to := minuteOf(end.Add(-window)), minuteOf(end)
	h := make(harm, len(of))
	for sender, r := range of {
		if n := r.within(from, to); n > 0 {
			h[sender] = n
		}
	}
	return h
}

// senders names those who did most harm, the worst first.
func (h harm) senders() (list []string) {
	for sender := range h {
		if sender != restOfSenders {
			list = append(list, sender)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(h[b], h[a]), cmp.Compare(a, b)) })
	return list[:min(len(list), alert.MaxSenders)]
}

// Excess adds the figures of what one agent did more harm than all others, in the hour up to now: alerts about the system leave it out.
func (t *Tally) Excess(set *Set, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	from := minuteOf(now.Add(-time.Hour))
	for workspace, p := range t.past {
		var hour sums
		failed, refused, lost := harm{}, harm{}, harm{}
		for i := len(p.slots) - 1; i >= 0 && p.slots[i].minute >= from; i-- {
			s := &p.slots[i]
			hour = hour.plus(s.sums, 1)
			failed.plus(s.causedBy)
			refused.plus(s.failedTo)
			lost.plus(s.lackedBy)
		}
		label := OtherWorkspaces
		if t.spaces[workspace] {
			label = workspace
		}
		set.Add(FailedExcess, max(failed.excess(hour.failed), refused.excess(hour.failed)), label)
		set.Add(LostExcess, lost.excess(hour.lost()), label)
	}
}

// excessOf is the figure of what a definition leaves out.
func excessOf(d *alert.Definition) *Instrument {
	if d.Figure == EnvelopeCompleteness.Name {
		return LostExcess
	}
	return FailedExcess
}
