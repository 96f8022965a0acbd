package routing

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
)

// NominalCapacity is the number of tasks that an agent without a limit is assumed to take when loads are compared.
const NominalCapacity = 10

// ranked is an agent that has the capabilities, with the values by which it is ranked.
type ranked struct {
	name     string
	why      Reason
	reason   int     // its order
	likes    int     // number of the preferred capabilities that it has
	load     float64 // held tasks divided by its capacity
	failures int     // in a row
	cost     int64   // of a usual task; the largest number if it is not known
	latency  time.Duration
	turn     uint64 // orders equals
}

// byCapability considers every agent that has the capabilities, the eligible first. It omits people: they receive tasks by
// name, or by a ticket at the desk of that name, which notifies them.
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

// insert inserts an agent among the best so far, up to the capacity of the slice. Few of many agents are inserted, so this is
// faster than sorting them all.
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
	capacity := spec.MaxTasks
	if capacity == 0 {
		capacity = NominalCapacity
	}
	a := ranked{
		name: h.Agent.Name, reason: reason.order(), load: float64(h.Held) / float64(capacity), failures: h.Agent.Circuit.Failures,
		cost: known(spec.Estimates.Cost), latency: known(spec.Estimates.Latency), why: reason,
	}
	for _, c := range r.req.Likes {
		if spec.Has(c) {
			a.likes++
		}
	}
	return a
}

// known returns a hint, or the largest one if there is none, so that agents without a hint come last.
func known[T ~int64](hint T) T {
	if hint == 0 {
		return 1<<63 - 1
	}
	return hint
}

// turn returns the position of an agent among equals, by the request's Spread.
func (r *router) turn(agent string) uint64 {
	if r.req.Spread == "" {
		return 0
	}
	if r.spread == 0 {
		r.spread = mix(14695981039346656037, r.req.Spread)
	}
	n := mix(r.spread, agent)
	n = (n ^ n>>32) * 0x9e3779b97f4a7c15 // separate names that differ only at their end
	return n ^ n>>29
}

// mix adds a string and its end to an FNV-1a hash.
func mix(n uint64, s string) uint64 {
	for i := range len(s) {
		n = (n ^ uint64(s[i])) * 1099511628211
	}
	return n * 1099511628211
}

// compare orders the better agent first: eligible; not on probation; more preferred capabilities; lower load, by tenths;
// fewer failures in a row; lower cost, then latency; lower load, exactly.
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

// compareAll orders equals by the request's Spread, and then by name.
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
	case Away:
		return 2
	default:
		return 3
	}
}

// capabilities lists the capabilities of the registered agents.
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
