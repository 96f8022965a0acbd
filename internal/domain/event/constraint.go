package event

import (
	"slices"
)

// Tightens reports whether c, with the same id as old, asks for at least as much: the same kind and words, not a
// larger maximum, no value more allowed, and hard if old was.
func (c Constraint) Tightens(old Constraint) bool {
	switch {
	case c.Kind != old.Kind || c.Text != old.Text || (old.Hard && !c.Hard):
		return false
	case old.Max != nil && (c.Max == nil || *c.Max > *old.Max):
		return false
	case old.Allow != nil && (c.Allow == nil || slices.ContainsFunc(c.Allow, func(a string) bool { return !slices.Contains(old.Allow, a) })):
		return false
	}
	return true
}

// Equal compares what can be tightened.
func (c Constraint) Equal(o Constraint) bool {
	return c.Hard == o.Hard && (c.Allow == nil) == (o.Allow == nil) && slices.Equal(c.Allow, o.Allow) &&
		(c.Max == nil) == (o.Max == nil) && (c.Max == nil || *c.Max == *o.Max)
}

// InheritedBy is the id under which c, a constraint of a parent's, binds a child that has others: its own, unless another
// is set under that id, which must not shadow it; "" if it is there already, as tight or tighter.
func (c Constraint) InheritedBy(others []Constraint) string {
	for id := c.ID; ; id = "parent." + id {
		i := slices.IndexFunc(others, func(o Constraint) bool { return o.ID == id })
		switch {
		case i < 0 || others[i].Origin == c.Origin && c.Tightens(others[i]):
			return id
		case others[i].Origin == c.Origin && others[i].Tightens(c):
			return ""
		}
	}
}
