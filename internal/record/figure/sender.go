package figure

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
)

// rounding is what sums of shares may differ by.
const rounding = 1e-9

// share is how much of all went wrong: of handoffs that ended, or of envelopes that were packed.
type share struct{ wrong, all float64 }

func (s share) without(o share) share { return share{s.wrong - o.wrong, s.all - o.all} }

// measure is the value of a definition, and whether that is beyond its threshold.
func (s share) measure(d *alert.Definition) (value float64, holds bool) {
	if s.all < max(d.Few, 1) || d.Measure == alert.Share && s.wrong < d.Least {
		return 0, false
	}
	value = s.wrong / s.all
	if d.Measure == alert.Average { // of what is right
		value = 1 - value
	}
	return value, d.Compare.Holds(value, d.Threshold)
}

// leaves is what a definition leaves out of a share from a minute up to another. Of what one agent caused, and was to receive, more than all others together, a
// definition with Spread leaves out that much. If what remains is within the threshold, and what all but one agent sent is not, it leaves out what that
// one sent: the many successes of one hide nobody's failures.
func (b *books) leaves(d *alert.Definition, s share, from, to int64) share {
	f := faultsOf(b.faulty(from, to))
	excess := func(of share, without string) share {
		if !d.Spread {
			return share{}
		}
		n := f.excess(of.wrong, without)
		return share{n, n}
	}
	left := excess(s, "")
	if _, holds := s.without(left).measure(d); holds {
		return left
	}
	var worst share
	name := ""
	for sender, sent := range b.sent {
		if strings.Contains(sender, "/") {
			continue
		}
		own := share{f.wrong[sender], sent.within(from, to).all}
		if own.all <= rounding {
			continue
		}
		rest := s.without(own)
		if _, holds := rest.measure(d); !holds { // what is left out as well makes it no worse
			continue
		}
		more := excess(rest, sender)
		rest = rest.without(more)
		if _, holds := rest.measure(d); !holds {
			continue
		}
		if a, b := rest.wrong*worst.all, worst.wrong*rest.all; name == "" || a > b || a == b && sender < name {
			name, worst, left = sender, rest, share{own.wrong + more.wrong, own.all + more.all}
		}
	}
	return left
}

// window is the minutes of a window that ends at a time.
func window(of time.Duration, end time.Time) (from, to int64) {
	return minuteOf(end.Add(-of)), minuteOf(end)
}

// excesses are the figures of what definitions leave out, by figure: of what went wrong, and of all.
var excesses = map[string][2]*Instrument{
	HandoffsFailed.Name:       {FailedExcess, EndedExcess},
	EnvelopeCompleteness.Name: {LostExcess, PackedExcess},
}

// Excess adds the figures of what alerts leave out in the hour up to now.
func (t *Tally) Excess(set *Set, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	from, to := window(time.Hour, now)
	for workspace, p := range t.past {
		slots := p.since(from)
		var hour sums
		for i := range slots {
			hour = hour.plus(slots[i].sums, 1)
		}
		label := OtherWorkspaces
		if t.spaces[workspace] {
			label = workspace
		}
		for _, d := range alert.Definitions() {
			if !d.Apart {
				continue
			}
			var left share
			if of := hour.share(d.Figure); of.wrong > rounding {
				b := booksOf(d.Figure, slots)
				left = b.leaves(&d, of, from, to)
			}
			set.Add(excesses[d.Figure][0], left.wrong, label, string(d.Severity))
			set.Add(excesses[d.Figure][1], left.all, label, string(d.Severity))
		}
	}
}

// share is what went wrong of a figure.
func (s sums) share(figure string) share {
	if figure == EnvelopeCompleteness.Name {
		return share{s.lost(), s.packed}
	}
	return share{s.failed, s.ended}
}
