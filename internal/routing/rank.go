package routing

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
)

// nominalRoom is how many tasks an agent without a limit counts as having room for when loads are compared.
const nominalRoom = 10

// ranked is an agent that has the capabilities, with what it is ranked by.
type ranked struct {
	name     string
	why      Reason
	reason   int     // its order
	likes    int     // of the welcome capabilities, how many it has
	load     float64 // held tasks in proportion to its room
	failures int     // in a row
	cost     int64   // of a usual task; the largest number where it is not known
	latency  time.Duration
	turn     uint64 // settles between equals
}

// byCapability considers every agent that has the capabilities, the eligible first. People are asked by name, or at the desk
// of that name: what comes to them by a ticket is told to them, and nobody takes them for a program.
func (r *router) byCapability() error {
	best, n := make([]ranked, 0, MaxListed), 0
	for h := range r.dir.Having(r.req.Needs[0]) {
		if !h.Agent.Exists() || h.Agent.Spec.Kind == agent.KindHuman || !hasAll(&h.Agent.Spec, r.req.Needs) {
			continue
		}
		n++
		reason := r.judgeAble(h)
		r.count(h, reason)
		best = r.insert(best, h, reason)
	}
	if n == 0 {
		return unknownCapability(r.req.Needs, r.dir)
	}
	for _, a := range best {
		h, _ := r.dir.Lookup(a.name)
		r.seen[a.name] = true
		r.note(&h, a.name, Target, a.why)
	}
	r.plan.Omitted = n - len(best)
	return nil
}

// insert puts an agent into its place among the best so far, of whom it keeps as many as there is room for. Few of many get
// far, so this takes less than sorting them all.
func (r *router) insert(best []ranked, h *Hint, reason Reason) []ranked {
	a := r.rank(h, reason)
	full := len(best) == cap(best)
	by := -1
	if full {
		by = compare(&a, &best[len(best)-1])
	}
	if by > 0 {
		return best
	}
	a.turn = r.turn(a.name)
	if by == 0 && settle(&a, &best[len(best)-1]) > 0 {
		return best
	}
	if full {
		best = best[:len(best)-1]
	}
	at := sort.Search(len(best), func(i int) bool { return compareAll(&a, &best[i]) < 0 })
	return slices.Insert(best, at, a)
}

func (r *router) rank(h *Hint, reason Reason) ranked {
	spec := &h.Agent.Spec
	room := spec.MaxTasks
	if room == 0 {
		room = nominalRoom
	}
	a := ranked{
		name: h.Agent.Name, reason: reason.order(), load: float64(h.Held) / float64(room), failures: h.Agent.Circuit.Failures,
		cost: known(spec.Hints.Cost), latency: known(spec.Hints.Latency), why: reason,
	}
	for _, c := range r.req.Likes {
		if spec.Has(c) {
			a.likes++
		}
	}
	return a
}

// known is a hint; the largest one where there is none, so that who says nothing comes after who does.
func known[T ~int64](hint T) T {
	if hint == 0 {
		return 1<<63 - 1
	}
	return hint
}

// turn is an agent's place among equals for the request's value of spread.
func (r *router) turn(agent string) uint64 {
	if r.req.Spread == "" {
		return 0
	}
	if r.spread == 0 {
		r.spread = mix(14695981039346656037, r.req.Spread)
	}
	n := mix(r.spread, agent)
	n = (n ^ n>>32) * 0x9e3779b97f4a7c15 // names that differ at their end alone should not be neighbours
	return n ^ n>>29
}

// mix is FNV-1a, with an end to each string, and without making one of all.
func mix(n uint64, s string) uint64 {
	for i := range len(s) {
		n = (n ^ uint64(s[i])) * 1099511628211
	}
	return n * 1099511628211
}

// compare puts the better agent first: one that is eligible; one that is not on probation; with more of what is welcome; the
// one with less to do, by tenths of its room; with fewer failures in a row; the cheaper, then the quicker; the one with less
// to do at all.
func compare(a, b *ranked) int {
	switch {
	case a.reason != b.reason:
		return a.reason - b.reason
	case a.likes != b.likes:
		return b.likes - a.likes
	case int(a.load*10) != int(b.load*10):
		return int(a.load*10) - int(b.load*10)
	case a.failures != b.failures:
		return a.failures - b.failures
	case a.cost != b.cost:
		return cmp.Compare(a.cost, b.cost)
	case a.latency != b.latency:
		return cmp.Compare(a.latency, b.latency)
	}
	return cmp.Compare(a.load, b.load)
}

// compareAll settles between equals by the request's spread, and then by name.
func compareAll(a, b *ranked) int {
	if by := compare(a, b); by != 0 {
		return by
	}
	return settle(a, b)
}

func settle(a, b *ranked) int {
	if a.turn != b.turn {
		return cmp.Compare(a.turn, b.turn)
	}
	return cmp.Compare(a.name, b.name)
}

func (r Reason) order() int {
	switch r {
	case Fit:
		return 0
	case FitAsProbe:
		return 1
	default:
		return 2
	}
}

// capabilities lists what the registered agents can do.
func capabilities(dir Directory) []string {
	set := make(map[string]bool)
	for h := range dir.All() {
		if h.Agent.Exists() && h.Agent.Spec.Kind != agent.KindHuman {
			for _, c := range h.Agent.Spec.Capabilities {
				set[c] = true
			}
		}
	}
	list := make([]string, 0, len(set))
	for c := range set {
		list = append(list, c)
	}
	return list
}
