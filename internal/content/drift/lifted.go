package drift

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Lift is a lift of a constraint, as the record of the task has it.
type Lift struct {
	At time.Time
	event.Lifted
}

// explains reports whether the lift can have made next of prev: nothing, if it lifted the whole constraint.
func (l Lift) explains(prev, next event.Constraint) bool {
	if l.By == "" {
		return false // an older record
	}
	whole := next.ID == ""
	return l.ID == prev.ID && whole == (l.After.ID == "")
}

// explain says of the constraints that a hop does not have any more, or has with wider limits, that they were lifted, by whom, and whose
// tightening. prev and next are those of the hop; lifts are those of its time, oldest first.
func (h *Hop) explain(prev, next []envelope.Constraint, lifts []Lift) {
	c := &h.Constraints
	c.Dropped = slices.DeleteFunc(c.Dropped, func(lost Lost) bool {
		i, by := slices.IndexFunc(prev, func(k envelope.Constraint) bool { return k.ID == lost.ID }), -1
		if i >= 0 {
			by = lastOf(lifts, ruleOf(prev[i]), event.Constraint{})
		}
		if by < 0 {
			return false
		}
		c.Changed = append(c.Changed, Change{ID: lost.ID, By: event.Bare(lifts[by].By), How: Lifted, Before: lost.Text + " [" + ruleOf(prev[i]).Limits() + "]"})
		return true
	})
	for j, change := range c.Changed {
		i := slices.IndexFunc(prev, func(k envelope.Constraint) bool { return k.ID == change.ID })
		n := slices.IndexFunc(next, func(k envelope.Constraint) bool { return k.ID == change.ID })
		if change.How != Loosened || i < 0 || n < 0 {
			continue
		}
		was, is := ruleOf(prev[i]), ruleOf(next[n])
		if by := lastOf(lifts, was, is); by >= 0 {
			c.Changed[j].How, c.Changed[j].By, c.Changed[j].TightenedBy = Lifted, event.Bare(lifts[by].By), event.Bare(lifts[by].TightenedBy)
		} else if by := lastOf(lifts, was, event.Constraint{}); by >= 0 { // lifted, and set again
			c.Changed[j].How, c.Changed[j].By = Lifted, event.Bare(lifts[by].By)
		}
	}
}

// lastOf is the last lift that explains a change of a constraint, of those that left what it is now if there are such; below zero if
// there is none.
func lastOf(lifts []Lift, was, is event.Constraint) int {
	found := -1
	for i, l := range lifts {
		if l.explains(was, is) && (found < 0 || l.After.Equal(is) || !lifts[found].After.Equal(is)) {
			found = i
		}
	}
	return found
}

// of are the lifts between two times, both included; without an end if that is zero.
func of(lifts []Lift, from, to time.Time) []Lift {
	return slices.DeleteFunc(slices.Clone(lifts), func(l Lift) bool { return l.At.Before(from) || !to.IsZero() && l.At.After(to) })
}

// withLifts tells the lifts of a task in a report on its envelopes. A constraint that was lifted is not lost: retention does not count it.
func (r *Report) withLifts(full, packed []envelope.Envelope, lifts []Lift) {
	for i := range r.Hops {
		from, to := full[i].CreatedAt, time.Time{}
		if i+2 < len(full) { // what was lifted while the handoff was under way is told to its receiver
			to = full[i+2].CreatedAt
		}
		r.Hops[i].explain(full[i].Constraints, packed[i+1].Constraints, of(lifts, from, to))
	}
	gone := map[string]bool{}
	for _, e := range full {
		for _, k := range e.Constraints {
			there := slices.ContainsFunc(packed[len(packed)-1].Constraints, func(o envelope.Constraint) bool { return o.ID == k.ID })
			gone[k.ID] = !there && lastOf(lifts, ruleOf(k), event.Constraint{}) >= 0
		}
	}
	for _, lifted := range gone {
		if lifted {
			r.Retention.Constraints.Introduced--
			r.Retention.Overall.Introduced--
		}
	}
	r.Retention.Constraints, r.Retention.Overall = r.Retention.Constraints.rated(), r.Retention.Overall.rated()
}
