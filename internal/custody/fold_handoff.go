package custody

import (
	"cmp"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/fact"
)

// takeHandoff is take for the events of handoffs and children.
func (t *Task) takeHandoff(e fact.Event) bool {
	switch e := e.(type) {
	case fact.HandoffRequested:
		t.onHandoffRequested(e)
	case fact.ApprovalAsked:
		t.onApprovalAsked(e)
	case fact.Approved:
		t.onApproved(e)
	case fact.Denied:
		t.onDenied(e)
	case fact.OfferMade:
		t.onOfferMade(e)
	case fact.Seen:
		t.onSeen(e)
	case fact.ClaimJoined:
		t.onClaimJoined(e)
	case fact.RejectedOffer:
		t.onRejectedOffer(e)
	case fact.OfferShed:
		t.onOfferShed(e)
	case fact.OfferExpired, fact.Unanswered:
		t.offerOver()
	case fact.RetryScheduled:
		t.onRetryScheduled(e)
	case fact.Acknowledged:
		t.onAcknowledged(e)
	case fact.Confirmed:
		t.onConfirmed(e)
	case fact.Moved:
		t.onMoved(e)
	case fact.Returned:
		t.onReturned(e)
	case fact.Spawned:
		t.onSpawned(e)
	case fact.ChildEnded:
		t.onChildEnded(e)
	case fact.Joined:
		t.onJoined(e)
	default:
		return false
	}
	return true
}

func (t *Task) onHandoffRequested(e fact.HandoffRequested) {
	if e.Reason == fact.ReasonEscalation && e.Ticket == 0 {
		t.Used.Escalations++
	}
	if !e.Recovery && e.Ticket == 0 { // which debits attempts instead, or nothing
		t.Used.Handoffs++
	}
	if e.Attempt {
		t.Used.Attempts++
	}
	if e.NewWork {
		t.Marks++
	}
	if !e.Lease.IsZero() {
		t.Lease = e.Lease
	}
	claimed := t.cameToDesk() && e.Ticket > 0 && e.Envelope == t.Handoff.Envelope // what was approved is what moves
	t.Handoff = &Handoff{
		N: e.Handoff, Amended: claimed && t.Handoff.Amended, Kind: e.Kind, Claim: e.Claim, Stage: fact.Requested, From: e.From, Recovery: e.Recovery, Stuck: e.Stuck, Counted: e.Attempt,
		Reason: e.Reason, Detail: e.Detail, Chain: e.Chain, Capability: e.Capability, Channel: e.Channel, Confirm: e.Confirm, Times: e.Timeouts,
		Retries: e.Retries, ReturnHome: e.ReturnHome, Approver: e.Approver, Envelope: e.Envelope, Pack: e.Pack,
		By: e.By, Ticket: e.Ticket, RouteStep: e.RouteStep, Decision: e.Decision, Permits: e.Permissions, Candidates: e.Candidates, Requested: e.At,
	}
	t.fresh = t.Handoff
}

func (t *Task) onApprovalAsked(e fact.ApprovalAsked) {
	t.involve(e.Approver)
	h := t.touch()
	h.ApprovalEnds = e.Ends
	t.approvalTicket(e)
}

func (t *Task) onApproved(e fact.Approved) {
	h := t.touch()
	t.closeTicket(fact.TicketApproved, e.By, e.Detail, e.At)
	h.ApprovalEnds = time.Time{}
	t.Deadline, t.Lease = e.Deadline, e.Lease
	t.Marks++ // an approval is a decision
}

func (t *Task) onDenied(e fact.Denied) {
	t.closeTicket(fact.TicketDenied, e.By, e.Detail, e.At)
	t.Marks++ // a denial is a decision
}

func (t *Task) onOfferMade(e fact.OfferMade) {
	t.involve(e.To...)
	h := t.touch()
	h.Offer, h.To, h.Next, h.Tries, h.Rendition = e.Offer, e.To, e.Next, e.Try, ""
	h.Seen, h.SeenBy, h.RetryAt, h.AckEnds, h.OfferEnds = false, nil, time.Time{}, time.Time{}, e.Ends
	c := fact.Candidate{Tier: e.Tier}
	if e.Next < len(h.Candidates) {
		c.Level = h.Candidates[e.Next].Level
	}
	if t.Climbs(c, e.Offer, e.Try) {
		t.Used.Escalations++
	}
	t.reach(c.Level)
}

// reach notes that a level of the handoff's chain is asked.
func (t *Task) reach(level int) {
	if h := t.Handoff; level > 0 && (t.Chain.Chain != h.Chain || t.Chain.Level < level) {
		t.Chain = Climb{Chain: h.Chain, Level: level}
	}
}

func (t *Task) onSeen(e fact.Seen) {
	h := t.touch()
	h.Seen = true
	h.SeenBy = append(slices.Clip(h.SeenBy), e.Agent)
	if !e.Ends.IsZero() {
		h.OfferEnds, h.AckEnds = time.Time{}, e.Ends
	}
}

// onClaimJoined puts the agent last among the targets, before the fallbacks.
func (t *Task) onClaimJoined(e fact.ClaimJoined) {
	t.involve(e.Agent)
	h := t.touch()
	h.To = append(slices.Clip(h.To), e.Agent)
	h.Next = min(h.Next+1, len(h.Candidates))
	h.Candidates = slices.Insert(slices.Clone(h.Candidates), h.Next, fact.Candidate{Agent: e.Agent, Tier: fact.TierTarget})
}

func (t *Task) onAcknowledged(e fact.Acknowledged) {
	h := t.touch()
	h.Receiver, h.ConfirmEnds = e.Agent, e.Ends
	h.OfferEnds, h.AckEnds = time.Time{}, time.Time{}
}

// onRejectedOffer takes one receiver out of the offer, which is over when none is left.
func (t *Task) onRejectedOffer(e fact.RejectedOffer) {
	h := t.touch()
	h.To = slices.DeleteFunc(slices.Clone(h.To), func(a string) bool { return a == e.Agent })
	if len(h.To) == 0 {
		t.offerOver()
	}
}

// onOfferShed puts those who are asked instead right after the agent that has too much to do.
func (t *Task) onOfferShed(e fact.OfferShed) {
	h := t.touch()
	peers := make([]fact.Candidate, len(e.To))
	for i, agent := range e.To {
		peers[i] = fact.Candidate{Agent: agent, Tier: fact.TierFallback}
	}
	asked := min(h.Next+1, len(h.Candidates))
	rest := slices.DeleteFunc(slices.Clone(h.Candidates[asked:]), func(c fact.Candidate) bool { return slices.Contains(e.To, c.Agent) })
	h.Candidates = slices.Concat(h.Candidates[:asked], peers, rest)
	t.offerOver()
}

// offerOver puts the handoff back to Requested: nobody holds an offer.
func (t *Task) offerOver() {
	h := t.touch()
	h.To, h.OfferEnds, h.AckEnds, h.Stage = nil, time.Time{}, time.Time{}, fact.Requested
}

func (t *Task) onRetryScheduled(e fact.RetryScheduled) {
	h := t.touch()
	h.RetryAt, h.Tries = e.At, e.Try
}

func (t *Task) onConfirmed(e fact.Confirmed) {
	if e.Envelope != "" {
		h := t.touch()
		h.Envelope, h.Rendition = e.Envelope, "" // what was packed lacks the notes
	}
}

func (t *Task) onMoved(e fact.Moved) {
	h := t.touch()
	h.Ended, h.ConfirmEnds = e.At, time.Time{}
	if e.Hop {
		t.Used.Hops++
	}
	if h.Stuck && !h.Counted { // somebody's word has come true
		t.Used.Attempts++
	}
	if h.Permits != nil {
		t.Permissions = h.Permits
	}
	if h.RouteStep && len(t.Route) > 0 {
		t.Route = t.Route[1:]
	}
	t.Times.Lease, t.Times.Progress = h.Times.Lease, h.Times.Progress // the handoff may have asked for others
	t.Envelope = e.Delivery                                           // what was shared meanwhile is no part of what moved
	t.Held = cmp.Or(h.Rendition, e.Delivery)
	if h.Ticket == 0 { // whoever took it over has handed it on, or it went another way
		outcome := fact.TicketWithdrawn
		if t.InPerson() != nil {
			outcome = fact.TicketResolved
		}
		t.closeTicket(outcome, e.From, "", e.At)
	}
	if i := slices.IndexFunc(h.Candidates, func(c fact.Candidate) bool { return c.Agent == e.To }); i >= 0 && h.Candidates[i].Level > 0 {
		t.Chain.Agent = e.To
	}
	t.Human = e.Human
	t.own(e.To, e.Epoch, e.Lease)
	t.dropAsk(func(Ask) bool { return true }) // they asked the former owner
}

func (t *Task) onReturned(e fact.Returned) {
	if k := t.OpenTicket(); k != nil && k.Kind == fact.TicketApproval {
		t.dropTicket(e.At)
	}
	t.close(e.Why, e.At)
	t.touch().Stage = e.Outcome
	t.run(e.Lease)
	if !e.Deadline.IsZero() {
		t.Deadline = e.Deadline
	}
	t.State = fact.Pending
	if t.Owner != "" {
		t.State, t.Resumed = fact.Executing, e.Outcome != fact.Withdrawn // who took it back knows
	}
}

func (t *Task) onSpawned(e fact.Spawned) {
	if e.NewWork {
		t.Marks++
	}
	children := slices.Clone(t.Children)
	for _, c := range e.Children {
		children = append(children, Child{Task: c.Task, Index: c.Index, To: c.To, Budget: c.Budget, State: fact.Pending, Tasks: c.Tasks, Group: e.Group})
		t.Reserved = t.Reserved.Plus(c.Budget)
		t.Used.Tasks += 1 + c.Tasks
	}
	t.Children = children
	t.Used.Handoffs++
	if e.FanIn.Mode == fact.FanInNone {
		return
	}
	t.run(time.Time{})
	t.FanIn, t.Awaits, t.JoinBy, t.State = e.FanIn, e.Group, e.JoinBy, fact.Waiting
}

func (t *Task) onChildEnded(e fact.ChildEnded) {
	i := t.FindChild(e.Child)
	if i < 0 {
		return
	}
	t.Children = slices.Clone(t.Children)
	c := &t.Children[i]
	was := c.State
	c.State, c.Result, c.Why = e.State, e.Result, e.Why
	if e.State.Final() && !was.Final() {
		t.Reserved = t.Reserved.Minus(c.Budget)
		t.Spent = t.Spent.Plus(e.Spent)
		t.Used.Tasks += e.Tasks - c.Tasks
		c.Tasks = e.Tasks
	}
	if e.State == fact.Completed && !e.Late {
		t.Marks++
	}
}

func (t *Task) onJoined(e fact.Joined) {
	t.JoinBy = time.Time{}
	t.run(e.Lease)
	t.State, t.Resumed = fact.Executing, true
	if t.Owner == "" {
		t.State = fact.Completed
		t.end(e.At, e.Result, fact.Budget{})
	}
}
