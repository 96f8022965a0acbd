package figure

import (
	"slices"
	"sort"
	"time"
)

// kept is how long the sums of minutes are kept: the longest window, and the longest time that an alert must hold.
const kept = Window + 6*time.Hour

// sums are what happened in some time.
type sums struct {
	ended, failed, packed, tasks, hops float64
	completeness                       float64 // of packed envelopes
	budgeted, utilisation, fullness    float64 // packed envelopes with a budget
	lacking                            float64 // packed envelopes that lack a reference
}

// lost is how many envelopes lost their references; of one that lost a part, that part counts.
func (s sums) lost() float64 { return s.packed - s.completeness }

func (s sums) plus(o sums, sign float64) sums {
	return sums{
		ended: s.ended + sign*o.ended, failed: s.failed + sign*o.failed, packed: s.packed + sign*o.packed, tasks: s.tasks + sign*o.tasks, hops: s.hops + sign*o.hops,
		completeness: s.completeness + sign*o.completeness, budgeted: s.budgeted + sign*o.budgeted, utilisation: s.utilisation + sign*o.utilisation, fullness: s.fullness + sign*o.fullness,
		lacking: s.lacking + sign*o.lacking,
	}
}

// slot is what happened in a minute.
type slot struct {
	minute int64 // since the beginning of 1970
	sums
	handoffs  accounts // that ended
	envelopes accounts // that were packed
	routes    accounts // of tasks that ended, by requester: their hops without the first
}

// past is what alerts need to know of a workspace. Its memory is bounded by the minutes of [kept].
type past struct {
	slots       []slot // the oldest first
	parked      handoffs
	uncovered   handoffs // that moved a task and whose handshake is not in the record as a whole
	moved, bare int      // handoffs that moved a task, and how many are uncovered
}

// handoffs are the last handoffs of a kind, the newest first, and since when there are any.
type handoffs struct {
	ids   []string
	since time.Time
}

func (h *handoffs) add(id string, at time.Time) {
	if h.since.IsZero() {
		h.since = at
	}
	h.ids = slices.Insert(h.ids, 0, id)
	h.ids = h.ids[:min(len(h.ids), Behind)]
}

func (h *handoffs) remove(id string) {
	h.ids = slices.DeleteFunc(h.ids, func(o string) bool { return o == id })
}

func minuteOf(at time.Time) int64 { return at.Unix() / 60 }

// at returns what happened in the minute of a time, for changes. Times may go back a little: entries are of many streams.
func (p *past) at(t time.Time) *slot {
	m := minuteOf(t)
	i := sort.Search(len(p.slots), func(i int) bool { return p.slots[i].minute >= m })
	if i == len(p.slots) || p.slots[i].minute != m {
		p.slots = slices.Insert(p.slots, i, slot{minute: m})
	}
	if old := p.slots[len(p.slots)-1].minute - int64(kept/time.Minute); p.slots[0].minute < old && i > 0 {
		n := sort.Search(len(p.slots), func(i int) bool { return p.slots[i].minute >= old })
		p.slots = slices.Delete(p.slots, 0, n)
		i = max(i-n, 0)
	}
	return &p.slots[i]
}

// since returns the minutes from one on.
func (p *past) since(minute int64) []slot {
	return p.slots[sort.Search(len(p.slots), func(i int) bool { return p.slots[i].minute >= minute }):]
}

// totals are the sums from the first minute up to each minute.
type totals struct {
	minutes []int64
	upTo    []sums // one more than minutes: upTo[i] has the minutes before i
}

func (p *past) totals() totals {
	t := totals{upTo: make([]sums, 1, len(p.slots)+1)}
	for i := range p.slots {
		t.minutes = append(t.minutes, p.slots[i].minute)
		t.upTo = append(t.upTo, t.upTo[i].plus(p.slots[i].sums, 1))
	}
	return t
}

// within returns what happened in a window that ends at a time, to the minute: the minute in which the window begins is included.
func (t *totals) within(of time.Duration, end time.Time) sums {
	from, to := window(of, end)
	i, _ := slices.BinarySearch(t.minutes, from)
	j, _ := slices.BinarySearch(t.minutes, to+1)
	if j <= i {
		return sums{}
	}
	return t.upTo[j].plus(t.upTo[i], -1)
}
