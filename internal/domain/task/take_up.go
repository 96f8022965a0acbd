package task

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Returned is the event that ends the handoff in flight: the task stays with its source. tell is for a handoff that another
// principal than the source took back; a source is always told of one that failed.
func Returned(t *Task, outcome event.Stage, why string, tell bool, now time.Time) event.Returned {
	r := event.Returned{Handoff: t.Handoff.N, Outcome: outcome, Why: why, TakeUpBy: t.takeUp(now), Tell: tell, At: now}
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

// Closed completes the event that closes the ticket that the task waits for. The owner, if there is one, resumes.
func Closed(t *Task, e event.TicketClosed, now time.Time) event.TicketClosed {
	e.Ticket, e.TakeUpBy, e.At = t.Ticket.N, t.takeUp(now), now
	if t.Owner != "" {
		e.Lease = t.LeaseFrom(now)
	}
	return e
}

// Revived completes the event that takes the task out of the dead letters: back to its owner, or to its requester. Either is told: an
// owner was told to stop.
func Revived(t *Task, e event.Replayed, now time.Time) event.Replayed {
	e.TakeUpBy, e.Tell = t.takeUp(now), true
	if t.Owner != "" {
		e.Lease = t.LeaseFrom(now)
	}
	return e
}

// Met completes the event that a dependency of the task has ended. If it was the last one of a task that has come back meanwhile, the
// clock of its requester starts now.
func Met(t *Task, e event.DependencyEnded, now time.Time) event.DependencyEnded {
	cameBack := t.Handoff != nil || t.WasParked != nil || t.Ticket != nil
	if t.State != event.Pending || !cameBack || !t.TakeUpBy.IsZero() {
		return e
	}
	met := Fold(*t, e)
	e.TakeUpBy = met.takeUp(now)
	return e
}

// takeUp is when the requester of a task that nobody owns, and that comes back now, must have taken it up, as people must have
// answered. An operator has no such time: operators see what came back. But a child of theirs does, since its parent waits for it. Nor has a task
// that depends on others: nobody can start it.
func (t *Task) takeUp(now time.Time) time.Time {
	if t.Owner != "" || len(t.Unmet()) > 0 || t.Parent.Task == "" && !t.byAgent() {
		return time.Time{}
	}
	return t.Times.People().After(now)
}

// ToldRequester reports whether the requester of a task that nobody owns finds in its inbox that a handoff of it has failed. For a
// child, its parent is told, once it is in the dead letters.
func (t *Task) ToldRequester() bool { return t.Parent.Task == "" && t.byAgent() }

func (t *Task) byAgent() bool { return strings.HasPrefix(t.Requester, "agent/") }

// WhyBack is why the task that nobody owns has come back to its requester; empty if it has not, or there is no reason.
func (t *Task) WhyBack() string {
	switch h, k := t.Handoff, t.Ticket; {
	case t.WasParked != nil && (h == nil || !h.Ended.After(t.WasParked.At)):
		return "it was replayed, and sent to nobody"
	case h != nil && h.Stage == event.AtDesk && k != nil:
		return "its ticket at the desk " + k.Desk + " was " + string(k.Outcome)
	case h != nil:
		return h.Why
	}
	return ""
}

// NotTakenUp says which requester did not take up a task that came back to it, and why it came back.
func NotTakenUp(t *Task) string {
	why := strings.TrimPrefix(t.Requester, "agent/") + " requested it and did not take it up in time after it came back"
	if back := t.WhyBack(); back != "" {
		why += ": " + back
	}
	return refusal.Clip(why, event.MaxText)
}
