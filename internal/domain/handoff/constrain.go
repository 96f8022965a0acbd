package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Constrain adds a constraint, or tightens one: a smaller maximum, a subset of the allowed values.
type Constrain struct {
	By         identity.Principal
	Epoch      uint64
	Constraint event.Constraint
}

func (c Constrain) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	if err := requireSource(t, c.By, c.Epoch); err != nil {
		return nil, err
	}
	k := c.Constraint
	if k.Origin == "" || !c.By.IsSystem() {
		k.Origin = c.By.String()
	} else if k.ID = k.InheritedBy(t.Constraints); k.ID == "" { // inherited: another principal has set it
		return nil, nil
	}
	if err := k.Check(); err != nil {
		return nil, err
	}
	after := task.Fold(t, event.Constrained{Constraint: k})
	if i := t.FindConstraint(k.ID); i >= 0 {
		old := t.Constraints[i]
		if !c.By.IsOperator() { // others cannot lift what an operator has tightened
			k.Origin = old.Origin
		}
		if !k.Tightens(old) {
			return nil, refusal.New(refusal.Conflict, "only tighten it, or have "+old.Origin+" or an operator lift it",
				"constraint %s cannot be loosened or reworded", k.ID)
		}
		if k.Equal(old) && k.Origin == old.Origin {
			return nil, nil
		}
	}
	if err := event.CheckConstraints(after.Constraints); err != nil {
		return nil, err
	}
	return []event.Event{event.Constrained{Constraint: k}}, nil
}
