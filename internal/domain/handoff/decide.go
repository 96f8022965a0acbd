package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Command is a wish: somebody wants something to happen to a task. Whether it does is for Decide to say.
type Command interface {
	decide(t task.Task, now time.Time) ([]event.Event, error)
}

// Decide says what a command does to a task: the events, all of which or none become part of the record, or a
// *refusal.Error. No events and no error means that there is nothing to do. It does no I/O and reads no clock.
func Decide(t task.Task, c Command, now time.Time) ([]event.Event, error) {
	return c.decide(t, now.Round(0).UTC()) // no monotonic reading: what is decided is what is read back
}

// live refuses a task that does not exist or is over.
func live(t task.Task) error {
	switch {
	case !t.Exists():
		return refusal.New(refusal.NotFound, "check the id; list tasks to see those you may see", "there is no such task")
	case t.State.Final():
		return refusal.New(refusal.Conflict, "nothing more can happen to it; create a new task", "task %s is %s", t.ID, t.State)
	}
	return nil
}

// held refuses everybody but the owner with the current epoch.
func held(t task.Task, by identity.Principal, epoch uint64) error {
	if err := live(t); err != nil {
		return err
	}
	if t.Owner == "" && t.Requester == by.String() {
		return refusal.New(refusal.Conflict, unowned(t.State), "task %s is %s and nobody owns it", t.ID, t.State)
	}
	if t.Owner == "" || by.Agent() != t.Owner {
		return refusal.New(refusal.NotOwner, "only the owner may do this; accept an offer or ask to take the task over",
			"%s does not own task %s", by.Short(), t.ID)
	}
	return current(t, epoch)
}

// unowned is what its requester can do about a task in a state that nobody owns.
func unowned(s event.State) string {
	switch s {
	case event.Waiting:
		return "wait for its children, whose results become its own; or cancel it"
	case event.HandingOff:
		return "wait until a receiver accepts, or cancel the handoff"
	case event.Parked:
		return "have an operator replay it, or cancel it and create another"
	default:
		return "hand it off (send), or start it, first"
	}
}

func current(t task.Task, epoch uint64) error {
	if epoch == t.Epoch {
		return nil
	}
	return refusal.New(refusal.StaleEpoch, "ownership has moved since; fetch the task and look at owner and epoch",
		"epoch %d is not task %s's epoch %d", epoch, t.ID, t.Epoch).With("epoch", t.Epoch)
}

// works refuses unless the owner may work on the task now. A recovery that nobody has accepted yet gives way to an
// owner who comes back: the events returned end it.
func works(t task.Task, by identity.Principal, epoch uint64, now time.Time) ([]event.Event, error) {
	if err := held(t, by, epoch); err != nil {
		return nil, err
	}
	h := t.InFlight()
	switch {
	case t.State == event.Executing:
		return nil, nil
	case h != nil && h.Recovery && h.Stage != event.Accepted:
		return []event.Event{returned(t, event.Withdrawn, "its owner came back", now)}, nil
	default:
		return nil, busy(t)
	}
}

// busy refuses what a task does not admit in its present state: it waits, is on its way, or lies in the dead letters.
func busy(t task.Task) error {
	h := t.InFlight()
	switch {
	case h != nil && h.Stuck:
		return refusal.New(refusal.Conflict, "if you own the task, a progress report ends the recovery", "handoff %s is under way", h.ID(t.ID))
	case h != nil && h.Recovery:
		return refusal.New(refusal.Conflict, "if you own the task, a heartbeat ends the recovery", "handoff %s is under way", h.ID(t.ID))
	case h != nil:
		return refusal.New(refusal.Conflict, "wait for it, or withdraw it by cancelling the handoff", "handoff %s is under way", h.ID(t.ID))
	case t.AtDesk() != nil:
		return refusal.New(refusal.Conflict, "wait until somebody sees to it, or take it back by denying it", "task %s waits for ticket %s",
			t.ID, event.TicketID(t.ID, t.Ticket.N))
	case t.State == event.Waiting:
		return refusal.New(refusal.Conflict, "wait for the children, or cancel them", "task %s waits for its children", t.ID)
	default:
		return refusal.New(refusal.Conflict, "an operator can replay it", "task %s is %s", t.ID, t.State)
	}
}

// standsBehind refuses everybody but the source: the owner with the current epoch, or the requester of a task that
// nobody owns. Operators and the server itself may act for the source; they need not name an epoch.
func standsBehind(t task.Task, by identity.Principal, epoch uint64) error {
	if err := live(t); err != nil {
		return err
	}
	if (by.IsOperator() || by.IsSystem()) && epoch == 0 {
		return nil
	}
	if t.Owner != "" && !by.IsOperator() && !by.IsSystem() {
		return held(t, by, epoch)
	}
	if by.String() != t.Requester && !by.IsOperator() && !by.IsSystem() {
		return refusal.New(refusal.NotOwner, "only its requester may hand on a task that nobody owns",
			"%s did not create task %s", by.Short(), t.ID)
	}
	return current(t, epoch)
}

// park puts the task into the dead-letter queue.
func park(cause event.ParkCause, detail string, now time.Time) event.ParkedTask {
	return event.ParkedTask{Cause: cause, Detail: detail, At: now}
}

// returned ends the handoff in flight with the task back at its source.
func returned(t task.Task, outcome event.Stage, why string, now time.Time) event.Returned {
	r := event.Returned{Handoff: t.Handoff.N, Outcome: outcome, Why: why, At: now}
	if t.Handoff.Stage == event.AwaitingApproval {
		r.Deadline = t.Extended(now)
	}
	r.After = t.Standing()
	r.After.State = event.Pending
	if t.Owner != "" {
		r.Lease, r.After.State = t.LeaseFrom(now), event.Executing
	}
	return r
}

// home brings the task back to its source after a handoff that did not work: to the owner, or, if nobody owns it,
// to the dead letters, where somebody will look.
func home(t task.Task, outcome event.Stage, why string, now time.Time) []event.Event {
	if t.Owner == "" {
		return []event.Event{park(event.ParkReturned, why, now)}
	}
	return []event.Event{returned(t, outcome, why, now)}
}

// turn is a decision being made: the events so far, and the task as it will be after them.
type turn struct {
	t      task.Task
	events []event.Event
}

func (d *turn) do(events ...event.Event) {
	d.events = append(d.events, events...)
	d.t.Apply(events...)
}

// Sequence is several commands as one decision: all their events or none.
type Sequence []Command

func (s Sequence) decide(t task.Task, now time.Time) ([]event.Event, error) {
	d := turn{t: t}
	for _, c := range s {
		events, err := c.decide(d.t, now)
		if err != nil {
			return nil, err
		}
		d.do(events...)
	}
	return d.events, nil
}
