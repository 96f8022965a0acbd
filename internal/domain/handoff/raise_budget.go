package handoff

import (
	"cmp"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// RaiseBudget raises the budget of a task that has not ended: by its requester, by the owner of its parent, or by an operator. For
// a child, the parent reserves the amounts first: see [task.Task.Raise].
type RaiseBudget struct {
	By       identity.Principal
	Child    string       // reserve them for it; empty: raise the task's own
	Reserved bool         // the parent of this task has reserved them
	Budget   event.Budget // the new amounts; zero: as it is
	Why      string
}

func (c RaiseBudget) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	if err := firstError(authority.RequireLive(t), refusal.In("budget", c.Budget.Check("the budget")), refusal.In("why", event.CheckText("the reason", c.Why, event.MaxText))); err != nil {
		return nil, err
	}
	setter := c.By.String() == t.Requester && t.Parent.Task == ""
	if c.Child != "" {
		setter = c.By.String() == t.SourcePrincipal()
	}
	if !setter && !c.Reserved && !c.By.IsOperator() {
		return nil, refusal.New(refusal.NotPermitted, task.HowToRaise(&t, c.Child), "%s did not set the budget of task %s", c.By.Short(), cmp.Or(c.Child, t.ID))
	}
	budget, err := t.Raise(c.Child, c.Budget)
	if err != nil || budget == (event.Budget{}) {
		return nil, err
	}
	return []event.Event{event.BudgetRaised{By: c.By.Short(), Child: c.Child, Budget: budget, Why: c.Why}}, nil
}
