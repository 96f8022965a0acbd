package alert

import (
	"cmp"
	"slices"
	"time"
)

// Two alerts of one figure with a milder and a severer threshold hold together: the milder one is contained in the severer. People are notified
// of the severer one alone, unless it is silenced; when it recovers, they are told that the milder one is still raised.

// Within returns the severer alert that is raised for the same agent and of which people were notified; "" if there is none.
func (s *State) Within(k Key) string {
	for _, d := range Definitions() {
		if d.Milder != k.Name {
			continue
		}
		if a, ok := s.Find(Key{d.Name, k.Agent}); ok && a.Notified {
			return d.Name
		}
	}
	return ""
}

// remains is the milder alert that is still raised when an alert recovers of which people were notified; "" if there is none, or it is
// silenced.
func (s *State) remains(of Alert, now time.Time) string {
	d, _ := Find(of.Name)
	k := Key{d.Milder, of.Agent}
	if _, ok := s.Find(k); !ok || !of.Notified || s.SilencedAt(k, now) != nil {
		return ""
	}
	return k.Name
}

// bySeverity returns a copy of a list by name in which the alerts that contain a milder one come last, or, with the direction -1, first.
func bySeverity[T any](list []T, name func(T) string, direction int) []T {
	rank := map[string]int{}
	for _, d := range Definitions() {
		if d.Milder != "" {
			rank[d.Name] = direction
		}
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(rank[name(a)], rank[name(b)]) })
	return list
}
