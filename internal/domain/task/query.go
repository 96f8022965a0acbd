package task

import (
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// LeaseFrom is when an owner that shows life now must show it again. Of a person who has taken the task over nobody expects
// signs of life before the ticket is due.
func (t Task) LeaseFrom(now time.Time) time.Time {
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

// Said is how often somebody has said that the present owner is stuck.
func (t Task) Said(by string) int {
	for _, w := range t.Words {
		if w.By == by {
			return w.Times
		}
	}
	return 0
}

// Standing is what the record keeps before and after each handoff.
func (t Task) Standing() event.Standing {
	return event.Standing{State: t.State, Owner: t.Owner, Epoch: t.Epoch, Permissions: t.Permissions, Dependencies: t.Dependencies}
}

// Extended is the task's deadline, moved by how long an approval has been pending: its clocks stood still.
func (t Task) Extended(now time.Time) time.Time {
	if t.Deadline.IsZero() {
		return t.Deadline
	}
	return t.Deadline.Add(max(now.Sub(t.Handoff.Requested), 0))
}

// Barred says why agent can get neither the task nor a part of it, or "", and whether that is because it would close a
// loop.
func (t Task) Barred(agent string, newWork bool) (why string, closes bool) {
	if agent != "" && agent == t.Owner {
		return "is the source", false
	}
	why = t.Loop(agent, newWork)
	return why, why != ""
}

// Loop says why agent must not own the task once more, or "". A revisit with new progress, a decision or a result
// since the last one is work, up to the visits limit.
func (t Task) Loop(agent string, newWork bool) string {
	visits, last := t.Visits(agent)
	switch {
	case visits == 0:
		return ""
	case visits >= t.Limits.Visits:
		return fmt.Sprintf("visits limit %d reached by %s", t.Limits.Visits, agent)
	case !newWork && last == t.Marks:
		return fmt.Sprintf("cycle: back to %s without progress, decision or result since", agent)
	}
	return ""
}

// Visits counts how often agent has owned the task, and says what the task's marks were when it last let go.
func (t Task) Visits(agent string) (n, marks int) {
	for _, v := range t.Path {
		if v.Agent == agent {
			n, marks = n+1, v.Marks
		}
	}
	return n, marks
}

// NextHandoff is the number that the next handoff gets.
func (t Task) NextHandoff() int {
	if t.Handoff == nil {
		return 1
	}
	return t.Handoff.N + 1
}

// NextHandoffID is the id that the next handoff gets.
func (t Task) NextHandoffID() string { return event.HandoffID(t.ID, t.NextHandoff()) }

// Due is when the task next needs a tick of its clocks; zero if no clock runs.
func (t Task) Due() time.Time {
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
func (t Task) NeedsRecovery(now time.Time) bool {
	return t.State == event.Executing && (due(t.Lease, now) || due(t.ProgressBy, now)) && !due(t.Deadline, now) && t.InPerson() == nil
}

// OwnerLost reports whether the owner has let its lease end, or gets nowhere, and nobody has accepted the recovery yet.
func (t Task) OwnerLost(now time.Time) bool {
	h := t.InFlight()
	gone := t.State == event.Executing && (now.After(t.Lease) || due(t.ProgressBy, now)) && t.InPerson() == nil
	return t.Owner != "" && (gone || h != nil && h.Recovery && h.Stage != event.Accepted)
}

// Offspring is how many tasks have come of this one, or may still come of children that have not ended.
func (t Task) Offspring() int {
	n := len(t.Children)
	for _, c := range t.Children {
		n += c.Tasks
	}
	return n
}

// NextChild is the index that the task's next child gets.
func (t Task) NextChild() int {
	n := 0
	for _, c := range t.Children {
		n = max(n, c.Index+1)
	}
	return n
}

// Climbs reports whether an offer to a candidate of the handoff goes one level up the escalation chain. The first offer of a
// handoff whose reason is escalation does not: the request was counted. Nor does one to another of the level that was reached.
func (t Task) Climbs(c event.Candidate, offer, try int) bool {
	h := t.Handoff
	if c.Level > 0 && t.Chain.Chain == h.Chain && c.Level <= t.Chain.Level {
		return false
	}
	return c.Tier == event.TierEscalation && try == 0 && (offer > 1 || h.Reason != event.ReasonEscalation)
}

// OpenClaim reports whether the newest offer went to all candidates of a claim.
func (h *Handoff) OpenClaim() bool {
	return h.Claim && h.Stage == event.Offered && h.Candidates[h.Next].Tier == event.TierTarget
}

func due(clock, now time.Time) bool { return !clock.IsZero() && !clock.After(now) }
