package handoff

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Replay revives a task from the dead letters with fresh limits: back to its owner, or to nobody. Followed by a
// [Request] in one [Sequence] it goes to a new receiver.
type Replay struct {
	By    identity.Principal
	Note  string
	Route []string // replaces the task's route if not nil
	// Deadline replaces the task's. Zero keeps one that lies ahead and drops one that has passed.
	Deadline time.Time
	Budget   event.Budget // fields that are not zero replace the task's
}

func (c Replay) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := dead(t, c.By); err != nil {
		return nil, err
	}
	if err := firstError(event.CheckText("the note", c.Note, event.MaxText), event.CheckRoute(c.Route), event.CheckDeadline(c.Deadline, now),
		c.Budget.Check("the budget")); err != nil {
		return nil, err
	}
	e := event.Replayed{By: c.By.Short(), Note: c.Note, Route: c.Route, Deadline: c.Deadline.Round(0).UTC(), Budget: c.Budget}
	if c.Deadline.IsZero() && t.Deadline.After(now) {
		e.Deadline = t.Deadline
	}
	for _, dep := range t.Dependencies {
		if dep.State.Final() && dep.State != event.Completed && t.Owner == "" {
			return nil, refusal.New(refusal.Conflict, "discard it and create it anew without that dependency", "task %s depends on %s, which is %s",
				t.ID, dep.Task, dep.State)
		}
	}
	if t.Owner != "" {
		e.Lease = t.LeaseFrom(now)
	}
	return []event.Event{e}, nil
}

// Discard gives a task in the dead letters up, for a reason.
type Discard struct {
	By  identity.Principal
	Why string
}

func (c Discard) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := dead(t, c.By); err != nil {
		return nil, err
	}
	if strings.TrimSpace(c.Why) == "" {
		return nil, refusal.New(refusal.Invalid, "say why it may be dropped", "discarding needs a reason")
	}
	if err := event.CheckText("the reason", c.Why, event.MaxText); err != nil {
		return nil, err
	}
	return []event.Event{event.Discarded{By: c.By.Short(), Why: c.Why, At: now}}, nil
}

func dead(t task.Task, by identity.Principal) error {
	if err := live(t); err != nil {
		return err
	}
	if !by.IsOperator() {
		return refusal.New(refusal.NotPermitted, "tell an operator, or call the task off and make another", "%s cannot touch the dead-letter queue", by.Short())
	}
	if t.State != event.Parked {
		return refusal.New(refusal.Conflict, "list the dead letters to see which tasks are", "task %s is %s, not in the dead-letter queue", t.ID, t.State)
	}
	return nil
}

// Strand parks a task with which the server could not do what it must, such as sending it, so that somebody looks.
type Strand struct {
	By  identity.Principal
	Why string
}

func (c Strand) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := live(t); err != nil {
		return nil, err
	}
	if !c.By.IsSystem() {
		return nil, refusal.New(refusal.NotPermitted, "cancel it instead", "%s cannot park a task", c.By.Short())
	}
	if t.State == event.Parked {
		return nil, nil
	}
	return []event.Event{park(event.ParkReturned, c.Why, now)}, nil
}

// Annotate corrects or comments on an earlier entry of the task. The entry stays as it is.
type Annotate struct {
	By    identity.Principal
	Entry uint64 // position
	Note  string
}

func (c Annotate) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	if !t.Exists() {
		return nil, live(t)
	}
	if c.Entry == 0 || strings.TrimSpace(c.Note) == "" {
		return nil, refusal.New(refusal.Invalid, "give the entry's position and what there is to say", "an annotation needs an entry and a note")
	}
	if err := event.CheckText("the note", c.Note, event.MaxText); err != nil {
		return nil, err
	}
	return []event.Event{event.Annotated{Entry: c.Entry, By: c.By.Short(), Note: c.Note}}, nil
}
