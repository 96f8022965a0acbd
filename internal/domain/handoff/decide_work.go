package handoff

import (
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Heartbeat shows that the owner lives. It becomes an event only when a third of the lease is gone.
type Heartbeat struct {
	By    identity.Principal
	Epoch uint64
}

func (c Heartbeat) decide(t task.Task, now time.Time) ([]event.Event, error) {
	h := t.InFlight()
	if t.State == event.Waiting || h != nil && h.Stage == event.AwaitingApproval {
		return nil, held(t, c.By, c.Epoch) // no lease runs; alive is alive
	}
	d := turn{t: t}
	switch {
	case h != nil && h.Stuck: // that it lives is known
		return nil, held(t, c.By, c.Epoch)
	case h != nil && !h.Recovery: // whether the source still lives decides on a confirm that is overdue
		if err := held(t, c.By, c.Epoch); err != nil {
			return nil, err
		}
	default:
		events, err := works(t, c.By, c.Epoch, now)
		if err != nil {
			return nil, err
		}
		d.do(events...)
	}
	if left := d.t.Lease.Sub(now); left < time.Duration(t.Times.Lease)*2/3 {
		d.do(event.LeaseRenewed{Lease: t.LeaseFrom(now)})
	}
	return d.events, nil
}

// Progress reports what the owner has done. It renews the lease and counts as work. Usage is what it cost since
// the last report; a budget that it exceeds parks the task.
type Progress struct {
	By    identity.Principal
	Epoch uint64
	Note  string
	Usage event.Budget
}

func (c Progress) decide(t task.Task, now time.Time) ([]event.Event, error) {
	events, err := works(t, c.By, c.Epoch, now)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(c.Note) == "" {
		return nil, refusal.New(refusal.Invalid, "say what was done, or send a heartbeat", "progress needs a note")
	}
	if err := firstError(event.CheckText("the note", c.Note, event.MaxText), c.Usage.Check("the usage")); err != nil {
		return nil, err
	}
	d := turn{t: t}
	d.do(events...)
	d.do(event.Progressed{Note: c.Note, Usage: c.Usage, Lease: t.LeaseFrom(now)})
	if _, over := d.t.BudgetSpent(); over {
		left := d.t.Left()
		d.do(park(event.ParkBudget, fmt.Sprintf("budget overspent: %d tokens and %d micros of cost left", left.Tokens, left.Cost), now))
	}
	return d.events, nil
}

// Complete finishes the task with a result.
type Complete struct {
	By     identity.Principal
	Epoch  uint64
	Result event.Result
	Usage  event.Budget
}

func (c Complete) decide(t task.Task, now time.Time) ([]event.Event, error) {
	events, err := works(t, c.By, c.Epoch, now)
	if err != nil {
		return nil, err
	}
	if err := firstError(c.Result.Check(), c.Usage.Check("the usage")); err != nil {
		return nil, err
	}
	if limit := t.Expected.MaxBytes; limit > 0 && len(c.Result.Text)+len(c.Result.Data) > limit {
		return nil, event.TooLarge("the result", len(c.Result.Text)+len(c.Result.Data), limit)
	}
	return append(events, event.Finished{Agent: c.By.Agent(), Result: c.Result.Compact(), Usage: c.Usage, At: now}), nil
}

// Fail ends the task as not done.
type Fail struct {
	By     identity.Principal
	Epoch  uint64
	Detail string
	Result event.Result
	Usage  event.Budget
}

func (c Fail) decide(t task.Task, now time.Time) ([]event.Event, error) {
	events, err := works(t, c.By, c.Epoch, now)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(c.Detail) == "" {
		return nil, refusal.New(refusal.Invalid, "say what went wrong", "a failure needs a detail")
	}
	if err := firstError(event.CheckText("the detail", c.Detail, event.MaxText), c.Result.Check(), c.Usage.Check("the usage")); err != nil {
		return nil, err
	}
	return append(events, event.GaveUp{Agent: c.By.Agent(), Detail: c.Detail, Result: c.Result.Compact(), Usage: c.Usage, At: now}), nil
}

// Cancel calls the task off: by its owner, its requester, an operator, or a parent that no longer needs it.
type Cancel struct {
	By     identity.Principal
	Epoch  uint64 // 0: whoever owns it now
	Detail string
}

func (c Cancel) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := live(t); err != nil && t.State != event.Cancelled {
		return nil, err
	}
	owner := c.By.Agent() != "" && c.By.Agent() == t.Owner
	if !owner && c.By.String() != t.Requester && !c.By.IsOperator() && !c.By.IsSystem() {
		return nil, refusal.New(refusal.NotOwner, "ask its owner, its requester or an operator", "%s cannot cancel task %s", c.By.Short(), t.ID)
	}
	if t.State == event.Cancelled {
		return nil, nil
	}
	if c.Epoch != 0 {
		if err := current(t, c.Epoch); err != nil {
			return nil, err
		}
	}
	if err := event.CheckText("the detail", c.Detail, event.MaxText); err != nil {
		return nil, err
	}
	return []event.Event{event.Called{By: c.By.Short(), Detail: c.Detail, At: now}}, nil
}

// Constrain adds a constraint, or tightens one: a smaller maximum, a part of the allowed values.
type Constrain struct {
	By         identity.Principal
	Epoch      uint64
	Constraint event.Constraint
}

func (c Constrain) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	if err := standsBehind(t, c.By, c.Epoch); err != nil {
		return nil, err
	}
	k := c.Constraint
	if k.Origin == "" || !c.By.IsSystem() {
		k.Origin = c.By.String()
	} else if k.ID = k.InheritedBy(t.Constraints); k.ID == "" { // the server hands on what another principal has set
		return nil, nil
	}
	if err := k.Check(); err != nil {
		return nil, err
	}
	after := task.Fold(t, event.Constrained{Constraint: k})
	if i := t.FindConstraint(k.ID); i >= 0 {
		old := t.Constraints[i]
		if !c.By.IsOperator() { // what an operator has tightened is not for another to lift
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

// Lift takes a constraint away: only who set it may, or an operator.
type Lift struct {
	By  identity.Principal
	ID  string
	Why string
}

func (c Lift) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	if err := live(t); err != nil {
		return nil, err
	}
	i := t.FindConstraint(c.ID)
	if i < 0 {
		return nil, refusal.New(refusal.NotFound, "fetch the task to see its constraints", "task %s has no constraint %.64q", t.ID, c.ID)
	}
	if t.Constraints[i].Origin != c.By.String() && !c.By.IsOperator() {
		return nil, refusal.New(refusal.NotPermitted, "ask "+t.Constraints[i].Origin+" or an operator", "%s did not set constraint %s",
			c.By.Short(), c.ID)
	}
	if strings.TrimSpace(c.Why) == "" {
		return nil, refusal.New(refusal.Invalid, "say why", "lifting a constraint needs a reason")
	}
	if err := event.CheckText("the reason", c.Why, event.MaxText); err != nil {
		return nil, err
	}
	return []event.Event{event.Lifted{ID: c.ID, Why: c.Why}}, nil
}
