package handoff

import (
	"fmt"
	"strings"
	"time"
)

// Heartbeat shows that the owner lives. It becomes an event only when a third of the lease is gone.
type Heartbeat struct {
	By    By
	Epoch uint64
}

// CommandName implements [Command].
func (Heartbeat) CommandName() string { return "heartbeat" }

func (c Heartbeat) decide(t Task, now time.Time) ([]Event, error) {
	if t.State == Waiting || (t.State == HandingOff && !t.Handoff.Recovery) {
		return nil, t.held(c.By, c.Epoch) // no lease runs; alive is alive
	}
	d := turn{t: t}
	events, err := t.works(c.By, c.Epoch, now)
	if err != nil {
		return nil, err
	}
	d.do(events...)
	if left := d.t.Lease.Sub(now); left < time.Duration(t.Times.Lease)*2/3 {
		d.do(LeaseRenewed{Lease: t.lease(now)})
	}
	return d.events, nil
}

// Progress reports what the owner has done. It renews the lease and counts as work. Usage is what it cost since
// the last report; a budget that it exceeds parks the task.
type Progress struct {
	By    By
	Epoch uint64
	Note  string
	Usage Budget
}

// CommandName implements [Command].
func (Progress) CommandName() string { return "progress" }

func (c Progress) decide(t Task, now time.Time) ([]Event, error) {
	events, err := t.works(c.By, c.Epoch, now)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(c.Note) == "" {
		return nil, Refuse(CodeInvalid, "say what was done, or send a heartbeat", "progress needs a note")
	}
	if err := firstError(checkText("the note", c.Note, MaxText), c.Usage.check("the usage")); err != nil {
		return nil, err
	}
	d := turn{t: t}
	d.do(events...)
	d.do(Progressed{Note: c.Note, Usage: c.Usage, Lease: t.lease(now)})
	if _, over := d.t.spent(); over {
		left := d.t.left()
		d.do(park(ParkBudget, fmt.Sprintf("budget overspent: %d tokens and %d micros of cost left", left.Tokens, left.Cost), now))
	}
	return d.events, nil
}

// Complete finishes the task with a result.
type Complete struct {
	By     By
	Epoch  uint64
	Result Result
	Usage  Budget
}

// CommandName implements [Command].
func (Complete) CommandName() string { return "complete" }

func (c Complete) decide(t Task, now time.Time) ([]Event, error) {
	events, err := t.works(c.By, c.Epoch, now)
	if err != nil {
		return nil, err
	}
	if err := firstError(c.Result.check(), c.Usage.check("the usage")); err != nil {
		return nil, err
	}
	if limit := t.Expected.MaxBytes; limit > 0 && len(c.Result.Text)+len(c.Result.Data) > limit {
		return nil, tooLarge("the result", len(c.Result.Text)+len(c.Result.Data), limit)
	}
	return append(events, Finished{Agent: c.By.Agent, Result: c.Result, Usage: c.Usage, At: now}), nil
}

// Fail ends the task as not done.
type Fail struct {
	By     By
	Epoch  uint64
	Detail string
	Result Result
	Usage  Budget
}

// CommandName implements [Command].
func (Fail) CommandName() string { return "fail" }

func (c Fail) decide(t Task, now time.Time) ([]Event, error) {
	events, err := t.works(c.By, c.Epoch, now)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(c.Detail) == "" {
		return nil, Refuse(CodeInvalid, "say what went wrong", "a failure needs a detail")
	}
	if err := firstError(checkText("the detail", c.Detail, MaxText), c.Result.check(), c.Usage.check("the usage")); err != nil {
		return nil, err
	}
	return append(events, GaveUp{Agent: c.By.Agent, Detail: c.Detail, Result: c.Result, Usage: c.Usage, At: now}), nil
}

// Cancel calls the task off: by its owner, its requester, an operator, or a parent that no longer needs it.
type Cancel struct {
	By     By
	Detail string
}

// CommandName implements [Command].
func (Cancel) CommandName() string { return "cancel" }

func (c Cancel) decide(t Task, now time.Time) ([]Event, error) {
	if t.State == Cancelled {
		return nil, nil
	}
	if err := t.live(); err != nil {
		return nil, err
	}
	owner := c.By.Agent != "" && c.By.Agent == t.Owner
	if !owner && c.By.Principal != t.Requester && !c.By.Operator && !c.By.System {
		return nil, Refuse(CodeNotOwner, "ask its owner, its requester or an operator", "%s cannot cancel task %s", c.By.name(), t.ID)
	}
	if err := checkText("the detail", c.Detail, MaxText); err != nil {
		return nil, err
	}
	return []Event{Called{By: c.By.name(), Detail: c.Detail, At: now}}, nil
}

// Constrain adds a constraint, or tightens one: a smaller maximum, a part of the allowed values.
type Constrain struct {
	By         By
	Epoch      uint64
	Constraint Constraint
}

// CommandName implements [Command].
func (Constrain) CommandName() string { return "constrain" }

func (c Constrain) decide(t Task, _ time.Time) ([]Event, error) {
	if err := t.standsBehind(c.By, c.Epoch); err != nil {
		return nil, err
	}
	k := c.Constraint
	k.Origin = c.By.Principal
	if err := k.check(); err != nil {
		return nil, err
	}
	after := Fold(t, Constrained{Constraint: k})
	if i := t.constraint(k.ID); i >= 0 {
		old := t.Constraints[i]
		k.Origin = old.Origin
		if !k.tightens(old) {
			return nil, Refuse(CodeConflict, "only tighten it, or have "+old.Origin+" or an operator lift it",
				"constraint %s cannot be loosened or reworded", k.ID)
		}
		if k.equal(old) {
			return nil, nil
		}
	}
	if err := CheckConstraints(after.Constraints); err != nil {
		return nil, err
	}
	return []Event{Constrained{Constraint: k}}, nil
}

// Lift takes a constraint away: only who set it may, or an operator.
type Lift struct {
	By  By
	ID  string
	Why string
}

// CommandName implements [Command].
func (Lift) CommandName() string { return "lift" }

func (c Lift) decide(t Task, _ time.Time) ([]Event, error) {
	if err := t.live(); err != nil {
		return nil, err
	}
	i := t.constraint(c.ID)
	if i < 0 {
		return nil, Refuse(CodeNotFound, "fetch the task to see its constraints", "task %s has no constraint %.64q", t.ID, c.ID)
	}
	if t.Constraints[i].Origin != c.By.Principal && !c.By.Operator {
		return nil, Refuse(CodeNotPermitted, "ask "+t.Constraints[i].Origin+" or an operator", "%s did not set constraint %s",
			c.By.name(), c.ID)
	}
	if strings.TrimSpace(c.Why) == "" {
		return nil, Refuse(CodeInvalid, "say why", "lifting a constraint needs a reason")
	}
	if err := checkText("the reason", c.Why, MaxText); err != nil {
		return nil, err
	}
	return []Event{Lifted{ID: c.ID, Why: c.Why}}, nil
}
