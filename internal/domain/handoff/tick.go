package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Tick applies the clocks that are due. A tick too early, twice, or on two servers at once is harmless.
type Tick struct {
	Hints Hints
	// Wake is for a handoff that waits for an open circuit: that may have closed before the time. It is offered now if there is a
	// receiver; otherwise it goes on waiting, and nothing else is done.
	Wake bool
	// Recovery lists the agents that may take over from a lost owner, best first. The owner itself comes after its
	// fallbacks, so that a restarted process finds its task again. Envelope is sealed from the last one and the progress.
	Recovery []event.Candidate
	Chain    string // the escalation chain of their levels
	Envelope event.Sealed
	// Passed are the agents that cannot take over, for example because the envelope does not fit their context window. If
	// Recovery is empty, nobody can.
	Passed []event.Passed
}

func (c Tick) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if c.Wake {
		return wake(t, c.Hints, now), nil
	}
	if !due(t.Due(), now) {
		return nil, nil
	}
	d := decision{t: t}
	h := t.InFlight()
	switch {
	case h != nil && h.Stage == event.AwaitingApproval:
		d.tickTicket(t.OpenTicket(), h.ApprovalEnds, now)
	case due(t.Deadline, now):
		d.do(park(event.ParkDeadline, "the deadline "+t.Deadline.Format(time.RFC3339)+" has passed", now))
	case h != nil:
		d.tickHandoff(c, now)
	case t.AtDesk() != nil:
		d.tickTicket(t.Ticket, t.Ticket.Due, now)
	case t.State == event.Executing && t.InPerson() != nil:
		d.tickTicket(t.Ticket, t.Lease, now)
	case t.State == event.Waiting:
		d.join(true, now)
	case t.State == event.Pending:
		d.do(park(event.ParkReturned, task.NotTakenUp(&t), now))
	default:
		d.recover(c, now)
	}
	return d.events, nil
}

// wake offers a handoff that waits for an open circuit, if it has a receiver now.
func wake(t task.Task, hints Hints, now time.Time) []event.Event {
	h := t.InFlight()
	if h == nil || !h.AwaitsCircuit() || due(t.Due(), now) { // what is due is the next tick's
		return nil
	}
	d := decision{t: t}
	if d.offerAgain(hints, now); d.t.Handoff.Stage != event.Offered {
		return nil
	}
	return d.events
}

func due(clock, now time.Time) bool { return !clock.IsZero() && !clock.After(now) }

func (d *decision) tickHandoff(c Tick, now time.Time) {
	h := d.t.Handoff
	switch {
	case due(h.RetryAt, now):
		d.offerAgain(c.Hints, now)
	case due(h.AckEnds, now):
		d.do(event.Unanswered{Handoff: h.N, Offer: h.Offer, Agent: h.To[0], Sender: task.Sender(&d.t, h), Again: h.Slow == h.To[0]})
		d.unanswered(c.Hints, now)
	case due(h.OfferEnds, now):
		last := failure{why: authority.Unaccepted(h)}
		d.do(event.OfferExpired{Handoff: h.N, Offer: h.Offer, To: h.To})
		d.nextOrEnd(last, nil, c.Hints, now)
	case d.t.Owner != "" && d.t.Lease.After(now) || d.t.Owner == "":
		d.do(backToSource(d.t, event.Expired, "not confirmed in time; "+h.Receiver+" had accepted", now)...)
	default: // the source is lost and cannot object
		d.do(event.Confirmed{Handoff: h.N, By: h.From, Auto: true})
		d.do(moved(d.t, now))
	}
}

// tickTicket reminds people of a ticket, or ends their time: the ticket escalates to the next desk, or is closed.
func (d *decision) tickTicket(k *task.Ticket, ends, now time.Time) {
	switch {
	case !due(ends, now) && due(k.Remind(), now):
		e := event.TicketReminded{Ticket: k.N, Reminder: k.Reminders + 1, Due: ends, At: now}
		if now.Sub(k.Remind()) >= time.Duration(k.Span)/10*4 { // both are due
			e.Reminder = 2
		}
		d.do(e)
	case k.Then != "" && k.Level == 0:
		why := "nobody of the desk " + k.Desk + " saw to it in time"
		if k.ClaimedBy != "" {
			why = k.ClaimedBy + " did not see to it in time"
		} else if k.To != "" {
			why = k.To + " did not see to it in time"
		}
		d.do(event.TicketEscalated{Ticket: k.N, Desk: k.Then, Level: k.Level + 1, Why: why, Due: k.Span.After(now), At: now})
	case k.Kind == event.TicketApproval:
		d.do(backToSource(d.t, event.Expired, "nobody approved in time", now)...)
	case k.Kind == event.TicketQuestion:
		d.do(task.Closed(&d.t, event.TicketClosed{Outcome: event.TicketUnanswered, Detail: "nobody answered in time"}, now))
	default:
		why := "nobody of the desk " + k.Desk + " took it in time"
		if k.ClaimedBy != "" {
			why = k.ClaimedBy + " took it from the desk " + k.Desk + " and did not end it in time"
		}
		d.do(park(event.ParkNobodyClaimed, why, now))
	}
}
