package handoff

import (
	"strings"
	"time"
)

// Replay revives a task from the dead letters with fresh limits: back to its owner, or to nobody. Followed by a
// [Request] in one [Sequence] it goes to a new receiver.
type Replay struct {
	By    By
	Note  string
	Route []string // replaces the task's route if not nil
	// Deadline replaces the task's. Zero keeps one that lies ahead and drops one that has passed.
	Deadline time.Time
}

// CommandName implements [Command].
func (Replay) CommandName() string { return "replay" }

func (c Replay) decide(t Task, now time.Time) ([]Event, error) {
	if err := t.dead(c.By); err != nil {
		return nil, err
	}
	if err := firstError(checkText("the note", c.Note, MaxText), checkRoute(c.Route)); err != nil {
		return nil, err
	}
	e := Replayed{By: c.By.name(), Note: c.Note, Route: c.Route, Deadline: c.Deadline.UTC()}
	switch {
	case !c.Deadline.IsZero() && !c.Deadline.After(now):
		return nil, Refuse(CodeInvalid, "use a time ahead", "the deadline %s has passed", c.Deadline.Format(time.RFC3339))
	case c.Deadline.IsZero() && t.Deadline.After(now):
		e.Deadline = t.Deadline
	}
	for _, dep := range t.Dependencies {
		if dep.State.Final() && dep.State != Completed && t.Owner == "" {
			return nil, Refuse(CodeConflict, "discard it and create it anew without that dependency", "task %s depends on %s, which is %s",
				t.ID, dep.Task, dep.State)
		}
	}
	if t.Owner != "" {
		e.Lease = t.lease(now)
	}
	return []Event{e}, nil
}

// Discard gives a task in the dead letters up, for a reason.
type Discard struct {
	By  By
	Why string
}

// CommandName implements [Command].
func (Discard) CommandName() string { return "discard" }

func (c Discard) decide(t Task, now time.Time) ([]Event, error) {
	if err := t.dead(c.By); err != nil {
		return nil, err
	}
	if strings.TrimSpace(c.Why) == "" {
		return nil, Refuse(CodeInvalid, "say why it may be dropped", "discarding needs a reason")
	}
	if err := checkText("the reason", c.Why, MaxText); err != nil {
		return nil, err
	}
	return []Event{Discarded{By: c.By.name(), Why: c.Why, At: now}}, nil
}

func (t Task) dead(by By) error {
	if err := t.live(); err != nil {
		return err
	}
	if !by.Operator {
		return Refuse(CodeNotPermitted, "ask an operator", "%s cannot touch the dead-letter queue", by.name())
	}
	if t.State != Parked {
		return Refuse(CodeConflict, "list the dead letters to see which tasks are", "task %s is %s, not in the dead-letter queue", t.ID, t.State)
	}
	return nil
}

// Annotate corrects or comments on an earlier entry of the task. The entry stays as it is.
type Annotate struct {
	By    By
	Entry uint64 // position
	Note  string
}

// CommandName implements [Command].
func (Annotate) CommandName() string { return "annotate" }

func (c Annotate) decide(t Task, _ time.Time) ([]Event, error) {
	if !t.Exists() {
		return nil, t.live()
	}
	if c.Entry == 0 || strings.TrimSpace(c.Note) == "" {
		return nil, Refuse(CodeInvalid, "give the entry's position and what there is to say", "an annotation needs an entry and a note")
	}
	if err := checkText("the note", c.Note, MaxText); err != nil {
		return nil, err
	}
	return []Event{Annotated{Entry: c.Entry, By: c.By.name(), Note: c.Note}}, nil
}
