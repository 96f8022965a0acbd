package routing_test

import (
	"iter"

	"github.com/trapezehq/trapeze/internal/routing"
)

// snapshot is a directory in memory, by name.
type snapshot map[string]routing.Hint

// snapshotOf collects hints by the names of their agents.
func snapshotOf(hints ...routing.Hint) snapshot {
	s := make(snapshot, len(hints))
	for _, h := range hints {
		s[h.Agent.Name] = h
	}
	return s
}

// Lookup finds an agent by name.
func (s snapshot) Lookup(name string) (routing.Hint, bool) {
	h, ok := s[name]
	return h, ok
}

// All yields every agent, in no particular order.
func (s snapshot) All() iter.Seq[*routing.Hint] {
	return func(yield func(*routing.Hint) bool) {
		for _, h := range s {
			if !yield(&h) {
				return
			}
		}
	}
}

// Having yields everybody.
func (s snapshot) Having(string) iter.Seq[*routing.Hint] { return s.All() }

// eligible lists those of a plan who may be tried.
func eligible(p routing.Plan) []routing.Considered {
	var list []routing.Considered
	for _, c := range p.Considered {
		if c.Eligible {
			list = append(list, c)
		}
	}
	return list
}
