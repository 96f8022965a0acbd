package routing

import (
	"cmp"
	"hash/fnv"
	"slices"

	"github.com/trapezehq/trapeze/internal/registry"
)

// nominalRoom is how many tasks an agent without a limit counts as having room for when loads are compared.
const nominalRoom = 10

// ranked is an agent that has the capabilities, with what it is ranked by.
type ranked struct {
	name     string
	reason   Reason
	load     float64 // held tasks in proportion to its room
	failures int     // in a row
	turn     uint64  // settles between equals
}

// byCapability considers everybody who has the capabilities, the eligible first.
func (r *router) byCapability() error {
	var all []ranked
	for h := range r.dir.All() {
		if h.Agent.Exists() && hasAll(h.Agent.Spec, r.req.Needs) {
			all = append(all, r.rank(&h))
		}
	}
	if len(all) == 0 {
		return unknownCapability(r.req.Needs, r.dir)
	}
	slices.SortFunc(all, compare)
	listed := min(len(all), MaxListed)
	for _, a := range all[:listed] {
		h, _ := r.dir.Lookup(a.name)
		r.seen[a.name] = true
		r.note(&h, a.name, Target, a.reason)
	}
	r.plan.Omitted = len(all) - listed
	if all[0].reason.eligible() {
		return nil
	}
	for _, a := range all[listed:] { // a refusal speaks for all of them
		h, _ := r.dir.Lookup(a.name)
		r.count(&h, a.reason)
	}
	return nil
}

func (r *router) rank(h *Hint) ranked {
	room := h.Agent.Spec.MaxTasks
	if room == 0 {
		room = nominalRoom
	}
	return ranked{
		name:     h.Agent.Name,
		reason:   r.judge(h, Target),
		load:     float64(h.Held) / float64(room),
		failures: h.Agent.Circuit.Failures,
		turn:     turn(r.req.Spread, h.Agent.Name),
	}
}

// turn is an agent's place among equals for one value of spread.
func turn(spread, agent string) uint64 {
	if spread == "" {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(spread + "\x00" + agent)) // never fails
	n := h.Sum64()
	n = (n ^ n>>32) * 0x9e3779b97f4a7c15 // names that differ at their end alone should not be neighbours
	return n ^ n>>29
}

// compare puts the better agent first: one that is eligible, one that is not on probation, the one with less to
// do, with fewer failures; the request's spread and then names settle the rest.
func compare(a, b ranked) int {
	return cmp.Or(
		cmp.Compare(a.reason.order(), b.reason.order()),
		cmp.Compare(a.load, b.load),
		cmp.Compare(a.failures, b.failures),
		cmp.Compare(a.turn, b.turn),
		cmp.Compare(a.name, b.name),
	)
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
		for _, c := range specOf(h).Capabilities {
			set[c] = true
		}
	}
	list := make([]string, 0, len(set))
	for c := range set {
		list = append(list, c)
	}
	return list
}

func specOf(h Hint) registry.Spec {
	if !h.Agent.Exists() {
		return registry.Spec{}
	}
	return h.Agent.Spec
}
