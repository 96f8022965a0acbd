package task

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// LeaseFrom is the end of the lease of an owner that is alive now. The lease of a person who has taken the task over ends
// when the ticket is due.
func (t *Task) LeaseFrom(now time.Time) time.Time {
	if k := t.InPerson(); k != nil { // with as much time again as the desk has
		if again := k.Span.After(now); again.After(k.Due) {
			return again
		}
		return k.Due
	}
	if t.Human {
		return t.Times.People().After(now)
	}
	return t.Times.Lease.After(now)
}

// RenewedLease is the lease of an owner whose command shows that it is alive; zero if by is another agent.
func (t *Task) RenewedLease(by string, now time.Time) time.Time {
	if t.Owner == "" || by != t.Owner {
		return time.Time{}
	}
	return t.LeaseFrom(now)
}

// Extended is the task's deadline, moved by how long an approval has been pending: its clocks stood still.
func (t *Task) Extended(now time.Time) time.Time {
	if t.Deadline.IsZero() {
		return t.Deadline
	}
	return t.Deadline.Add(max(now.Sub(t.Handoff.Requested), 0))
}

// Due is when the task next needs a tick of its clocks; zero if no clock runs.
func (t *Task) Due() time.Time {
	var due time.Time
	sooner := func(c time.Time) {
		if !c.IsZero() && (due.IsZero() || c.Before(due)) {
			due = c
		}
	}
	if !t.Exists() || t.State.Final() || t.State == event.Parked {
		return due
	}
	h := t.InFlight()
	k := t.OpenTicket()
	if h != nil && h.Stage == event.AwaitingApproval { // the others stand still
		if sooner(h.ApprovalEnds); k != nil {
			sooner(k.Remind())
		}
		return due
	}
	sooner(t.Deadline)
	if t.State == event.Pending {
		sooner(t.TakeUpBy)
	}
	if t.State == event.Executing {
		sooner(t.Lease)
		if t.InPerson() == nil {
			sooner(t.ProgressBy)
		}
	}
	switch {
	case t.AtDesk() != nil:
		sooner(k.Remind())
		sooner(k.Due)
	case t.State == event.Executing && t.InPerson() != nil:
		sooner(k.Remind())
	case t.State == event.Waiting:
		sooner(t.JoinBy)
	}
	if h != nil {
		sooner(h.RetryAt)
		sooner(h.OfferEnds)
		sooner(h.AckEnds)
		sooner(h.ConfirmEnds)
	}
	return due
}

// NeedsRecovery reports whether a tick now would replace an owner that is lost or stuck, so that the caller can bring what
// that takes.
func (t *Task) NeedsRecovery(now time.Time) bool {
	return t.State == event.Executing && (due(t.Lease, now) || due(t.ProgressBy, now)) && !due(t.Deadline, now) && t.InPerson() == nil
}

// OwnerLost reports whether the owner's lease is over, or it is not making progress, and no recovery was accepted yet.
func (t *Task) OwnerLost(now time.Time) bool {
	h := t.InFlight()
	gone := t.State == event.Executing && (now.After(t.Lease) || due(t.ProgressBy, now)) && t.InPerson() == nil
	return t.Owner != "" && (gone || h != nil && h.Recovery && h.Stage != event.Accepted)
}

func due(clock, now time.Time) bool { return !clock.IsZero() && !clock.After(now) }

// EndOfOffer is when an offer to a candidate that its receiver has not seen expires; that of a person expires then in any case.
func (h *Handoff) EndOfOffer(c event.Candidate, now time.Time) time.Time {
	if c.Human {
		return h.Times.People().After(now)
	}
	return h.Times.Offer.After(now)
}
