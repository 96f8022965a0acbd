package handoff

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Constrain adds a constraint, or tightens one: a smaller maximum, a subset of the allowed values. The setter of a constraint and
// operators may also give it a limit that it did not have. What agents add, here or in a parent task, is bounded: see
// [event.CheckAdded].
type Constrain struct {
	By         identity.Principal
	Epoch      uint64
	Constraint event.Constraint
	Count      func(string) int // tokens of a text; nil counts bytes
}

func (c Constrain) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	if err := requireSource(t, c.By, c.Epoch); err != nil {
		return nil, err
	}
	k, err := c.constraint(t)
	if err != nil || k.ID == "" {
		return nil, err
	}
	after := task.Fold(t, event.Constrained{Constraint: k})
	if t.Added(k) && (k.Inherited || t.Adds(c.By.String())) {
		if err := event.CheckAdded(added(t), added(after), c.Count); err != nil {
			return nil, err
		}
	}
	if err := event.CheckConstraints(after.Constraints); err != nil {
		return nil, err
	}
	return []event.Event{event.Constrained{Constraint: k}}, nil
}

// added lists the constraints that agents added.
func added(t task.Task) []event.Constraint {
	return slices.DeleteFunc(slices.Clone(t.Constraints), func(k event.Constraint) bool { return !t.Added(k) })
}

// constraint is the one that the task gets, with the setter of each part; without an id if nothing changes.
func (c Constrain) constraint(t task.Task) (event.Constraint, error) {
	k := c.Constraint
	by, inherited := c.By.String(), k.Origin != "" && c.By.IsSystem()
	if inherited { // another principal has set it, and nobody can set it again
		if k.ID = k.InheritedBy(t.Constraints); k.ID == "" {
			return k, nil
		}
	}
	i := t.FindConstraint(k.ID)
	switch {
	case inherited:
		k.Inherited = true
		return k, k.Check()
	case i < 0:
		if err := k.CheckNew(); err != nil {
			return k, err
		}
		return k.SetBy(by, t.Adds(by)), event.CheckDistinct(k.ID, t.Constraints)
	}
	old := t.Constraints[i]
	if err := k.MayTighten(old, by, c.By.IsOperator()); err != nil {
		return k, err
	}
	old.Added = t.Added(old) // older records do not say so
	if k = k.TightenedBy(old, by, c.By.IsOperator()); k.Equal(old) && k.Origin == old.Origin {
		return event.Constraint{}, nil
	}
	return k, nil
}
