package order

import (
	"cmp"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// ofTask is what is wrong with what an event names that is no event of a handoff.
func ofTask(t *task.Task, e event.Event) string {
	name := e.EventName()
	switch e := e.(type) {
	case event.Started:
		return cmp.Or(unlike(name, "owner", t.Owner, ""), unlike(name, "agent", event.SourcePrincipal(e.Agent), t.Requester))
	case event.LeaseRenewed, event.Progressed:
		if t.Owner == "" {
			return name + " of a task that nobody owns"
		}
	case event.GapReported:
		return unlike(name, "owner", e.Agent, t.Owner)
	case event.Finished:
		return unlike(name, "owner", e.Agent, t.Owner)
	case event.GaveUp:
		return unlike(name, "owner", e.Agent, t.Owner)
	case event.LeaseLost:
		return cmp.Or(unlike(name, "owner", e.Agent, t.Owner), unlike(name, "epoch", e.Epoch, t.Epoch))
	case event.OwnerStuck:
		return cmp.Or(unlike(name, "owner", e.Agent, t.Owner), unlike(name, "epoch", e.Epoch, t.Epoch))
	case event.Lifted:
		if t.FindConstraint(e.ID) < 0 {
			return name + " of a constraint that was not set"
		}
	case event.Spawned:
		return cmp.Or(unlike(name, "source", e.From, t.Source()), unlike(name, "envelope", e.Envelope, t.Envelope), standing(name, t, e.Before))
	case event.BudgetRaised:
		if e.Child != "" && t.FindChild(e.Child) < 0 {
			return name + " of a task that is no child"
		}
	case event.ChildEnded:
		if t.FindChild(e.Child) < 0 {
			return name + " of a task that is no child"
		}
	case event.DependencyEnded:
		if !slices.ContainsFunc(t.Dependencies, func(d event.Dependency) bool { return d.Task == e.Task }) {
			return name + " of a task that is no dependency"
		}
	case event.TakeoverAsked:
		return unlike(name, "number", e.Takeover, t.TakeoverCount+1)
	case event.TakeoverRefused:
		if !slices.ContainsFunc(t.Takeovers, func(r task.TakeoverRequest) bool { return r.N == e.Takeover }) {
			return name + " that nobody asked for"
		}
	case event.NoticeSeen:
		if !slices.ContainsFunc(t.Notices, func(n task.Notice) bool { return n.N == e.Notice && n.Agent == e.Agent }) {
			return name + " that " + shown(e.Agent) + " did not get"
		}
	}
	return cmp.Or(ofShare(t, e), ofTicket(t, e))
}

// ofShare is what is wrong with what an event of a shared or packed envelope names.
func ofShare(t *task.Task, e event.Event) string {
	name := e.EventName()
	shared := func(n int, to string) string {
		if !slices.ContainsFunc(t.Shares, func(s task.Share) bool { return s.N == n && (to == "" || s.To == to) }) {
			return name + " of what was not shared"
		}
		return ""
	}
	switch e := e.(type) {
	case event.Shared:
		return cmp.Or(unlike(name, "number", e.Share, len(t.Shares)+1), unlike(name, "source", e.From, t.Source()), unlike(name, "envelope", e.Envelope, t.Envelope))
	case event.ShareRead:
		return shared(e.Share, "")
	case event.Rendered:
		if e.Share > 0 {
			return shared(e.Share, e.Agent)
		}
		if t.Handoff == nil {
			return name + " without a handoff"
		}
		return offered(name, t.Handoff, e.Handoff, e.Offer, e.Agent)
	}
	return ""
}

// ofTicket is what is wrong with what an event of a ticket names.
func ofTicket(t *task.Task, e event.Event) string {
	name, n := e.EventName(), 0
	switch e := e.(type) {
	case event.TicketOpened:
		if t.Ticket != nil {
			n = t.Ticket.N
		}
		if h := t.InFlight(); h != nil && e.Handoff != 0 {
			return cmp.Or(unlike(name, "number", e.Ticket, n+1), unlike(name, "handoff", e.Handoff, h.N))
		}
		return cmp.Or(unlike(name, "number", e.Ticket, n+1), unlike(name, "handoff", e.Handoff, 0))
	case event.TicketClaimed:
		n = e.Ticket
	case event.TicketReleased:
		n = e.Ticket
	case event.TicketReminded:
		n = e.Ticket
	case event.TicketEscalated:
		n = e.Ticket
	case event.TicketClosed:
		n = e.Ticket
	default:
		return ""
	}
	return unlike(name, "number", n, t.OpenTicket().N)
}

// standing is what is wrong with what an event says of the task before it.
func standing(name string, t *task.Task, before event.Standing) string {
	return cmp.Or(unlike(name, "owner before", before.Owner, t.Owner), unlike(name, "epoch before", before.Epoch, t.Epoch))
}

// ofHandoff is what is wrong with what an event of a handoff names.
func ofHandoff(t *task.Task, e event.Event, confirmed int) string {
	name, h := e.EventName(), t.InFlight()
	switch e := e.(type) {
	case event.HandoffRequested:
		if k := t.OpenTicket(); e.Ticket != 0 && (k == nil || k.N != e.Ticket) {
			return name + " from a ticket that is not open"
		}
		return cmp.Or(unlike(name, "number", e.Handoff, t.NextHandoff()), unlike(name, "source", e.From, t.Source()), standing(name, t, e.Before))
	case event.ApprovalAsked:
		return unlike(name, "envelope", e.Envelope, h.Envelope)
	case event.Approved:
		return unlike(name, "envelope", e.Envelope, h.Envelope)
	case event.OfferMade:
		return cmp.Or(unlike(name, "handoff", e.Handoff, h.N), unlike(name, "number", e.Offer, h.Offer+1))
	case event.Seen:
		return offered(name, h, e.Handoff, e.Offer, e.Agent)
	case event.ClaimJoined:
		return unlike(name, "handoff", e.Handoff, h.N)
	case event.Acknowledged:
		return offered(name, h, e.Handoff, e.Offer, e.Agent)
	case event.RejectedOffer:
		return offered(name, h, e.Handoff, e.Offer, e.Agent)
	case event.OfferShed:
		return offered(name, h, e.Handoff, e.Offer, e.Agent)
	case event.OfferExpired:
		return cmp.Or(unlike(name, "handoff", e.Handoff, h.N), unlike(name, "offer", e.Offer, h.Offer))
	case event.Unanswered:
		return offered(name, h, e.Handoff, e.Offer, e.Agent)
	case event.RetryScheduled:
		return unlike(name, "handoff", e.Handoff, h.N)
	case event.Confirmed:
		return unlike(name, "handoff", e.Handoff, h.N)
	case event.Moved:
		return moved(t, h, e, confirmed)
	case event.Returned:
		return unlike(name, "handoff", e.Handoff, h.N)
	}
	return ""
}

// offered is what is wrong with an event of an agent that the newest offer of a handoff must have.
func offered(name string, h *task.Handoff, handoff, offer int, agent string) string {
	wrong := cmp.Or(unlike(name, "handoff", handoff, h.N), unlike(name, "offer", offer, h.Offer))
	if wrong == "" && !slices.Contains(h.To, agent) {
		return name + " of " + shown(agent) + ", to which it was not offered"
	}
	return wrong
}

// moved is what is wrong with the move of a task to another owner: it was accepted and confirmed, and its epoch is the next.
func moved(t *task.Task, h *task.Handoff, e event.Moved, confirmed int) string {
	name := e.EventName()
	wrong := cmp.Or(unlike(name, "handoff", e.Handoff, h.N), unlike(name, "source", e.From, h.From), unlike(name, "owner", e.To, h.Receiver),
		unlike(name, "epoch", e.Epoch, t.Epoch+1), unlike(name, "envelope", e.Delivery, h.Envelope),
		unlike(name, "owner after", e.After.Owner, e.To), unlike(name, "epoch after", e.After.Epoch, e.Epoch))
	if wrong == "" && confirmed != h.N {
		return name + " without a confirmation"
	}
	return wrong
}

// after is what is wrong with what an event that was just folded says of the task after it; records of before lack that.
func after(t *task.Task, e event.Event) string {
	var says event.Standing
	switch e := e.(type) {
	case event.Returned:
		says = e.After
	case event.TicketOpened:
		says = e.After
	}
	if says.State == "" {
		return ""
	}
	return cmp.Or(unlike(e.EventName(), "owner after", says.Owner, t.Owner), unlike(e.EventName(), "epoch after", says.Epoch, t.Epoch))
}
