package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Replay revives a task from the dead letters with fresh limits: back to its owner, or to nobody. Followed by a
// [Send] in one [Sequence] it goes to a new receiver.
type Replay struct {
	By    identity.Principal
	Note  string
	Route []string // replaces the task's route if not nil
	// Deadline replaces the task's. Zero keeps one that lies ahead and drops one that has passed.
	Deadline time.Time
	Budget   event.Budget // fields that are not zero replace the task's
}

func (c Replay) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := requireParked(t, c.By); err != nil {
		return nil, err
	}
	if err := firstError(event.CheckField("note", c.Note), refusal.In("route", event.CheckRoute(c.Route)), refusal.In("deadline", event.CheckDeadline(c.Deadline, now)),
		refusal.In("budget", c.Budget.Check("the budget"))); err != nil {
		return nil, err
	}
	e := event.Replayed{At: now, By: c.By.Short(), Note: c.Note, Route: c.Route, Deadline: c.Deadline.Round(0).UTC(), Budget: c.Budget}
	if c.Deadline.IsZero() && t.Deadline.After(now) {
		e.Deadline = t.Deadline
	}
	for _, dep := range t.Dependencies {
		if dep.State.Final() && dep.State != event.Completed && t.Owner == "" {
			return nil, refusal.New(refusal.Conflict, "[discard it](dead discard) and [create it again](task create) without that dependency", "task %s depends on %s, which is %s",
				t.ID, dep.Task, dep.State)
		}
	}
	return []event.Event{task.Revived(&t, e, now)}, nil
}

func requireParked(t task.Task, by identity.Principal) error {
	if err := authority.RequireLive(t); err != nil {
		return err
	}
	if !by.IsOperator() {
		return refusal.New(refusal.NotPermitted, "ask an operator, or [cancel the task](task cancel) and [create another](task create)", "%s may not change the dead letters", by.Short())
	}
	if t.State != event.Parked && t.WasParked != nil {
		now := string(t.State)
		if t.Owner != "" {
			now += ", and " + t.Owner + " owns it"
		}
		return refusal.New(refusal.Conflict, "[fetch the task](task show) to see what became of it", "task %s was replayed already: it is %s", t.ID, now)
	}
	if t.State != event.Parked {
		return refusal.New(refusal.Conflict, "[list the dead letters](dead list) to see which tasks are", "task %s is %s, not in the dead letters", t.ID, t.State)
	}
	return nil
}
