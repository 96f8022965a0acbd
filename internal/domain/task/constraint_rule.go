package task

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Rule is how a constraint of a task came about: the base is as its setter or the parent task has it, and each layer has the
// limits that one other principal asks for, its Origin.
type Rule struct {
	Base   event.Constraint
	Layers []event.Constraint // the one that was changed last comes last
}

// RuleAt is how the i-th constraint of the task came about.
func RuleAt(t *Task, i int) Rule {
	for _, r := range t.Rules {
		if r.Base.ID == t.Constraints[i].ID {
			return r
		}
	}
	return Rule{Base: t.Constraints[i]}
}

// setRule remembers a rule that has layers, and forgets one that has none.
func (t *Task) setRule(r Rule) {
	t.Rules = slices.DeleteFunc(slices.Clone(t.Rules), func(o Rule) bool { return o.Base.ID == r.Base.ID })
	if len(r.Layers) > 0 {
		t.Rules = append(t.Rules, r)
	}
}

// operates reports whether a principal acts on what is not its own: an operator or an administrator.
func operates(by string) bool {
	return strings.HasPrefix(by, "operator/") || strings.HasPrefix(by, "admin/")
}

// Constraint is what binds: the base and all layers. A layer gives the rule a kind of limit that it lacks only if it is an operator's or
// that of the rule's setter.
func (r Rule) Constraint() event.Constraint {
	c := r.Base
	for _, gives := range []bool{true, false} {
		for _, l := range r.Layers {
			if gives == (operates(l.Origin) || l.Origin == r.Base.Origin) {
				c = meet(c, l, gives)
			}
		}
	}
	return c
}

// meet is c with the limits of a layer, where they are tighter; with kinds of limits that c lacks if the layer gives them.
func meet(c, layer event.Constraint, gives bool) event.Constraint {
	next := c
	next.Hard = c.Hard || layer.Hard && gives
	if layer.Max != nil && (c.Max == nil && gives || c.Max != nil && *layer.Max < *c.Max) {
		next.Max = layer.Max
	}
	switch {
	case layer.Allow != nil && c.Allow != nil:
		next.Allow = slices.DeleteFunc(slices.Clone(c.Allow), func(a string) bool { return !slices.Contains(layer.Allow, a) })
	case layer.Allow != nil && gives:
		next.Allow = layer.Allow
	}
	return next.TightenedBy(c, layer.Origin, operates(layer.Origin))
}

// AddedConstraints lists those that agents added.
func AddedConstraints(t *Task) []event.Constraint {
	return slices.DeleteFunc(slices.Clone(t.Constraints), func(k event.Constraint) bool { return !t.Added(k) })
}

// Layer is the place of the layer of a principal; below zero if it has none.
func (r Rule) Layer(by string) int {
	return slices.IndexFunc(r.Layers, func(l event.Constraint) bool { return l.Origin == by })
}

// with is the rule with another base or layer: what its Origin asks for.
func (r Rule) with(own event.Constraint) Rule {
	if own.Inherited || own.Origin == r.Base.Origin && !r.Base.Inherited {
		r.Base = own
		return r
	}
	r = r.without(func(l event.Constraint) bool { return l.Origin == own.Origin })
	r.Layers = append(r.Layers, own)
	return r
}

// without is the rule without some of its layers.
func (r Rule) without(which func(event.Constraint) bool) Rule {
	r.Layers = slices.DeleteFunc(slices.Clone(r.Layers), which)
	return r
}

// own is what a principal asks for of the rule so far.
func (r Rule) own(by string) event.Constraint {
	if by == r.Base.Origin && !r.Base.Inherited {
		return r.Base
	}
	if i := r.Layer(by); i >= 0 {
		return r.Layers[i]
	}
	return event.Constraint{ID: r.Base.ID, Kind: r.Base.Kind, Text: r.Base.Text, Origin: by}
}

// asking is own with the limits in which k differs from what its setter was bound to, which k tightens.
func asking(own, k, bound event.Constraint) event.Constraint {
	if k.Hard != bound.Hard {
		own.Hard, own.HardBy = k.Hard, ""
	}
	if k.Max != nil && (bound.Max == nil || *k.Max != *bound.Max) {
		own.Max, own.MaxBy = k.Max, ""
	}
	if k.Allow != nil && (bound.Allow == nil || len(k.Allow) != len(bound.Allow)) {
		own.Allow, own.AllowBy = k.Allow, ""
	}
	return own
}

// then is the rule after its constraint, which was old, has become that of an event.
func (r Rule) then(old event.Constraint, e event.Constrained) Rule {
	k := e.Constraint
	switch {
	case e.Own.ID != "":
		return r.with(e.Own)
	case k.Inherited: // the parent's: nothing tells what was tightened here
		return Rule{Base: k}
	}
	by := k.Origin
	for _, part := range []struct {
		changed bool
		by      string
	}{
		{k.Hard != old.Hard, k.HardBy},
		{k.Max != nil && (old.Max == nil || *k.Max != *old.Max), k.MaxBy},
		{k.Allow != nil && (old.Allow == nil || !slices.Equal(k.Allow, old.Allow)), k.AllowBy},
	} {
		if part.changed && part.by != "" && k.Origin == old.Origin {
			by = part.by
		}
	}
	if operates(by) { // it made the whole its own
		old = event.Constraint{}
	}
	return r.with(asking(r.own(by), k, old))
}

// lifted is the rule after a layer of it was lifted, here or in the parent task.
func (r Rule) lifted(e event.Lifted) Rule {
	if e.Own.ID != "" {
		r.Base = e.Own
		return r
	}
	return r.without(func(l event.Constraint) bool { return l.Origin == e.TightenedBy })
}

// mayLift reports whether a principal may lift what another one has tightened of a rule of the task: its own tightening; as an
// operator; and as the setter of the rule or the requester of the task what agents added.
func (t *Task) mayLift(r Rule, tightenedBy, by string) bool {
	return by == tightenedBy || operates(by) || t.Adds(tightenedBy) && (by == r.Base.Origin || by == t.Requester)
}

// mayLiftWhole reports whether a principal may lift the i-th constraint: its setter, unless a principal that is above it has tightened it;
// the requester, if agents added it here; and operators.
func (t *Task) mayLiftWhole(i int, by string) bool {
	k, r := t.Constraints[i], RuleAt(t, i)
	above := func(l event.Constraint) bool { return l.Origin != by && !t.Adds(l.Origin) }
	setter := k.Origin == by && (!t.Adds(by) || !slices.ContainsFunc(r.Layers, above))
	return operates(by) || setter || by == t.Requester && t.Added(k) && !k.Inherited
}

// Tighten is the event of a principal that tightens the i-th constraint of the task, or a refusal: see [event.Constraint.MayTighten]. What
// the principal could lift does not bind it: of its own rule, it says what the rule is to be whatever agents have tightened of it.
// The event is zero if nothing changes.
func Tighten(t *Task, i int, k event.Constraint, by string) (event.Constrained, error) {
	r, old := RuleAt(t, i), t.Constraints[i]
	r.Base.Added = t.Added(r.Base) // older records do not say so
	bound := r.without(func(l event.Constraint) bool { return l.Origin != by && t.Adds(l.Origin) && t.mayLift(r, l.Origin, by) }).Constraint()
	if err := k.MayTighten(bound, by, operates(by)); err != nil {
		return event.Constrained{}, err
	}
	was := r.own(by)
	own := asking(was, k, bound)
	r = r.with(own)
	if k = r.Constraint(); k.Equal(old) && k.Origin == old.Origin && own.Equal(was) {
		return event.Constrained{}, nil
	}
	return event.Constrained{Constraint: k, Own: own}, nil
}

// Inherit is the event of a constraint of the parent task that binds this one too; zero if it does already.
func Inherit(t *Task, k event.Constraint) event.Constrained {
	bases := make([]event.Constraint, len(t.Constraints))
	for i := range bases {
		bases[i] = RuleAt(t, i).Base
	}
	if k.ID = k.InheritedBy(bases); k.ID == "" {
		return event.Constrained{}
	}
	k.Inherited = true
	i := t.FindConstraint(k.ID)
	if i < 0 || len(RuleAt(t, i).Layers) == 0 {
		return event.Constrained{Constraint: k}
	}
	r := RuleAt(t, i)
	r.Base = k
	return event.Constrained{Constraint: r.Constraint(), Own: k}
}

// Lift is the event of a principal that lifts a constraint, or only what another principal has tightened of it, or a refusal (not_found,
// not_permitted).
func Lift(t *Task, id, tightenedBy, by string) (event.Lifted, error) {
	i, short := t.FindConstraint(id), strings.TrimPrefix(by, "agent/")
	if i < 0 {
		return event.Lifted{}, refusal.New(refusal.NotFound, "[fetch the task](task show) to see its constraints", "task %s has no constraint %.64q", t.ID, id)
	}
	r, k := RuleAt(t, i), t.Constraints[i]
	r.Base.Added, k.Added = t.Added(r.Base), t.Added(k) // older records do not say so
	e := event.Lifted{ID: id, By: by, Constraint: k, TightenedBy: tightenedBy}
	switch {
	case tightenedBy == "" && !t.mayLiftWhole(i, by):
		hint := "ask " + event.Bare(k.Origin)
		if who := t.Requester; who != k.Origin && t.mayLiftWhole(i, who) {
			hint += ", " + event.Bare(who)
		}
		return e, refusal.New(refusal.NotPermitted, hint+" or an operator", "%s did not set constraint %s", short, id)
	case tightenedBy == "":
		return e, nil
	case r.Layer(tightenedBy) < 0:
		hint := "omit tightened_by to lift the whole constraint"
		if len(r.Layers) > 0 {
			hint = "it was tightened by " + r.tighteners() + "; " + hint
		}
		return e, refusal.New(refusal.NotFound, hint, "%.80s has tightened nothing of constraint %s, which %s set", event.Bare(tightenedBy), id, event.Bare(r.Base.Origin))
	case !t.mayLift(r, tightenedBy, by):
		hint := "ask an operator"
		if t.Adds(tightenedBy) {
			hint = "ask " + help.OrOperator(event.Bare(r.Base.Origin))
		}
		return e, refusal.New(refusal.NotPermitted, hint, "%s cannot lift what %s tightened of constraint %s", short, event.Bare(tightenedBy), id)
	}
	e.After = r.lifted(e).Constraint()
	return e, nil
}

// tighteners names the principals that have tightened the rule of another.
func (r Rule) tighteners() string {
	by := make([]string, len(r.Layers))
	for i, l := range r.Layers {
		by[i] = event.Bare(l.Origin)
	}
	return strings.Join(by, ", ")
}

// Free is the event of a lift in the parent task of what the task inherited as its i-th constraint; zero if it is free already.
func Free(t *Task, i int, parent event.Lifted) event.Lifted {
	r, k := RuleAt(t, i), t.Constraints[i]
	e := event.Lifted{ID: k.ID, Why: parent.Why, By: parent.By, Constraint: k}
	if parent.After.ID == "" {
		if !k.InheritsFrom(parent.Constraint) {
			return event.Lifted{}
		}
		return e
	}
	own := parent.After
	own.ID, own.Inherited = r.Base.ID, true
	setters := func(c event.Constraint) [4]string { return [4]string{c.Origin, c.HardBy, c.MaxBy, c.AllowBy} }
	if !r.Base.Follows(parent.Constraint) || own.Equal(r.Base) && setters(own) == setters(r.Base) {
		return event.Lifted{}
	}
	e.TightenedBy, e.Own = parent.TightenedBy, own
	e.After = r.lifted(e).Constraint()
	return e
}

// CheckNewPermissions is [event.CheckNewLabels], and refuses none: readers are shown that for an empty list.
func CheckNewPermissions(what string, list []string, limit int) error {
	if slices.ContainsFunc(list, func(p string) bool { return strings.EqualFold(p, "none") }) {
		return refusal.New(refusal.Invalid, "for no permissions give an empty list (over MCP and on the command line: none, alone); for some, name only these", "%s cannot be named none", what)
	}
	return event.CheckNewLabels(what, list, limit)
}
