package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Constrain adds a constraint, or tightens one: a smaller maximum, a subset of the allowed values. The setter of a constraint and
// operators may also give it a limit that it did not have: see [task.Tighten]. The requester may do so while another agent owns the
// task. What agents add, here or in a parent task, is bounded: see [event.CheckAdded].
type Constrain struct {
	By         identity.Principal
	Epoch      uint64
	Constraint event.Constraint
	Count      func(string) int // tokens of a text; nil counts bytes
}

func (c Constrain) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	if err := c.requireSetter(t); err != nil {
		return nil, err
	}
	e, err := c.event(t)
	if err != nil || e.Constraint.ID == "" {
		return nil, err
	}
	k, after := e.Constraint, task.Fold(t, e)
	if t.Added(k) && (k.Inherited || t.Adds(c.By.String())) {
		if err := event.CheckAdded(task.AddedConstraints(&t), task.AddedConstraints(&after), c.Count); err != nil {
			return nil, err
		}
	}
	if err := event.CheckConstraints(after.Constraints); err != nil {
		return nil, err
	}
	return []event.Event{e}, nil
}

// requireSetter refuses all principals but the source, see [requireSource], and the requester, who may omit the epoch if another agent is the owner.
func (c Constrain) requireSetter(t task.Task) error {
	if t.Owner == "" || c.By.String() != t.Requester || c.By.Agent() == t.Owner {
		return authority.RequireSource(t, c.By, c.Epoch)
	}
	if err := authority.RequireLive(t); err != nil || c.Epoch == 0 {
		return err
	}
	return authority.RequireEpoch(t, c.Epoch)
}

// event is what becomes of the constraint; zero if nothing changes.
func (c Constrain) event(t task.Task) (event.Constrained, error) {
	k, by := c.Constraint, c.By.String()
	if k.Origin != "" && c.By.IsSystem() { // the parent's: another principal has set it, and nobody can set it again
		return task.Inherit(&t, k), k.Check()
	}
	if i := t.FindConstraint(k.ID); i >= 0 {
		return task.Tighten(&t, i, k, by)
	}
	if err := refusal.In("constraints", k.CheckNew()); err != nil {
		return event.Constrained{}, err
	}
	return event.Constrained{Constraint: k.SetBy(by, t.Adds(by))}, event.CheckDistinct(k.ID, t.Constraints)
}
