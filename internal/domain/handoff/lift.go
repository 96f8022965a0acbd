package handoff

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Lift removes a constraint, as the principal that set it or an operator; as the requester, if agents added it to this task; or as the
// server, if it was inherited from a parent task, where it was lifted.
type Lift struct {
	By  identity.Principal
	ID  string
	Why string
}

func (c Lift) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	if err := requireLive(t); err != nil {
		return nil, err
	}
	i := t.FindConstraint(c.ID)
	if i < 0 {
		return nil, refusal.New(refusal.NotFound, "fetch the task to see its constraints", "task %s has no constraint %.64q", t.ID, c.ID)
	}
	k, by := t.Constraints[i], c.By.String()
	k.Added = t.Added(k) // older records do not say so
	requester := by == t.Requester && k.Added && !k.Inherited
	if k.Origin != by && !requester && !c.By.IsOperator() && (!c.By.IsSystem() || !k.Inherited) {
		return nil, refusal.New(refusal.NotPermitted, "ask "+k.Origin+" or an operator", "%s did not set constraint %s",
			c.By.Short(), c.ID)
	}
	if strings.TrimSpace(c.Why) == "" {
		return nil, refusal.New(refusal.Invalid, "say why", "lifting a constraint needs a reason")
	}
	if err := event.CheckText("the reason", c.Why, event.MaxText); err != nil {
		return nil, err
	}
	return []event.Event{event.Lifted{ID: c.ID, Why: c.Why, Constraint: k}}, nil
}
