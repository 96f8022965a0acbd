package handoff

import (
	"cmp"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Command asks for a change of a task. [Decide] says whether it happens.
type Command interface {
	decide(t task.Task, now time.Time) ([]event.Event, error)
}

// Decide returns the events of a command on a task, all of which or none are recorded, or a *refusal.Error. No events
// and no error means that there is nothing to do. It does no I/O and reads no clock.
func Decide(t task.Task, c Command, now time.Time) ([]event.Event, error) {
	return c.decide(t, now.Round(0).UTC()) // without a monotonic reading, as the record has it
}

// Sequence is several commands as one decision: all their events or none.
type Sequence []Command

func (s Sequence) decide(t task.Task, now time.Time) ([]event.Event, error) {
	d := decision{t: t}
	for _, c := range s {
		events, err := c.decide(d.t, now)
		if err != nil {
			return nil, err
		}
		d.do(events...)
	}
	return d.events, nil
}

// decision is a decision in progress: the events so far, and the task after them.
type decision struct {
	t      task.Task
	events []event.Event
}

func (d *decision) do(events ...event.Event) {
	d.events = append(d.events, events...)
	d.t.Apply(events...)
}

// requireWorking refuses unless the owner may work on the task now. The events returned end
// a recovery that nobody has accepted yet: its owner is back.
func requireWorking(t task.Task, by identity.Principal, epoch uint64, now time.Time) ([]event.Event, error) {
	if err := authority.RequireOwner(t, by, epoch); err != nil {
		return nil, err
	}
	h := t.InFlight()
	switch {
	case t.State == event.Executing:
		return nil, nil
	case h != nil && h.Recovery && h.Stage != event.Accepted:
		return []event.Event{task.Returned(&t, event.Withdrawn, "its owner came back", false, now)}, nil
	default:
		return nil, busy(t)
	}
}

// busy is the refusal for a task that waits, is in handoff, or is in the dead letters.
func busy(t task.Task) error {
	h := t.InFlight()
	switch {
	case h != nil && h.Stuck:
		return refusal.New(refusal.Conflict, "if you own the task, [a progress report](task progress) ends the recovery", "handoff %s is under way", h.ID(t.ID))
	case h != nil && h.Recovery:
		return refusal.New(refusal.Conflict, "if you own the task, [a heartbeat](task heartbeat) ends the recovery", "handoff %s is under way", h.ID(t.ID))
	case authority.TakenAway(t):
		return refusal.New(refusal.Conflict, authority.OperatorsHandoff, "handoff %s is under way", h.ID(t.ID))
	case h != nil:
		return refusal.New(refusal.Conflict, "wait for it, or [withdraw it](handoff withdraw) by cancelling the handoff", "handoff %s is under way", h.ID(t.ID))
	case t.AtDesk() != nil:
		return refusal.New(refusal.Conflict, "[wait until somebody handles it](ticket wait), or [withdraw it](ticket deny) by denying it", "task %s waits for ticket %s",
			t.ID, event.TicketID(t.ID, t.Ticket.N))
	case t.State == event.Waiting:
		return refusal.New(refusal.Conflict, "[wait for the children](task wait), or cancel them", "task %s waits for its children", t.ID)
	default:
		return refusal.New(refusal.Conflict, task.Replay(t.ID), "task %s is %s", t.ID, t.State)
	}
}

// backToSource ends a handoff that has failed: the task stays with its owner, or returns to its requester. If nobody owns
// it, and nobody would be told, it goes to the dead letters: operators look there, and a parent is told of its child. So does what an
// operator takes away from its owner.
func backToSource(t task.Task, outcome event.Stage, why string, now time.Time) []event.Event {
	if t.Owner == "" && !t.ToldRequester() && (!t.Handoff.ReturnHome || t.Parent.Task != "") || authority.TakenAway(t) && !t.Handoff.ReturnHome {
		return []event.Event{park(event.ParkReturned, why, now)}
	}
	return []event.Event{task.Returned(&t, outcome, why, false, now)}
}

// park moves the task to the dead letters.
func park(cause event.ParkCause, detail string, now time.Time) event.ParkedTask {
	return event.ParkedTask{Cause: cause, Detail: detail, At: now}
}

// requireNewest refuses an envelope that does not follow the task's newest one. None is fine.
func requireNewest(t task.Task, e event.Sealed) error {
	if e.Digest != "" && e.Parent != t.Envelope {
		return refusal.New(refusal.Conflict, "seal it again", "the envelope does not follow the task's newest one")
	}
	return nil
}

// requireReady refuses while dependencies have not completed.
func requireReady(t task.Task) error {
	if unmet := t.Unmet(); len(unmet) > 0 && t.Owner == "" {
		return refusal.New(refusal.Conflict, "it can start when they have completed; to start it automatically, [create it with a route](task create .dependencies=TASK .route)",
			"task %s waits for %s", t.ID, strings.Join(unmet, ", ")).With("unmet", unmet)
	}
	return nil
}

// attributed is an outcome with the principal and the detail, for example "withdrawn by ann: too late".
func attributed(outcome string, by identity.Principal, detail string) string {
	s := outcome + " by " + by.Short()
	if detail != "" {
		s += ": " + detail
	}
	return s
}

func firstError(errs ...error) error { return cmp.Or(errs...) }

func orElse(a, b []string) []string {
	if a != nil {
		return a
	}
	return b
}
