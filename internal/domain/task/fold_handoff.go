package task

import (
	"cmp"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task/passage"
)

// foldHandoff folds an event of a handoff or a child, and reports whether it was one.
func (t *Task) foldHandoff(e event.Event) bool {
	switch e := e.(type) {
	case event.HandoffRequested:
		t.onHandoffRequested(e)
	case event.ApprovalAsked:
		t.onApprovalAsked(e)
	case event.Approved:
		t.onApproved(e)
	case event.Denied:
		t.onDenied(e)
	case event.OfferMade:
		t.onOfferMade(e)
	case event.Seen:
		t.onSeen(e)
	case event.ClaimJoined:
		t.onClaimJoined(e)
	case event.RejectedOffer:
		t.onRejectedOffer(e)
	case event.OfferShed:
		t.onOfferShed(e)
	case event.OfferExpired:
		t.offerOver()
	case event.Unanswered:
		t.offerOver()
		t.ownHandoff().Slow = e.Agent
	case event.RetryScheduled:
		t.onRetryScheduled(e)
	case event.Acknowledged:
		t.onAcknowledged(e)
	case event.Confirmed:
		t.onConfirmed(e)
	case event.Moved:
		t.onMoved(e)
	case event.Returned:
		t.onReturned(e)
	case event.Spawned:
		t.onSpawned(e)
	case event.ChildEnded:
		t.onChildEnded(e)
	case event.Joined:
		t.onJoined(e)
	default:
		return false
	}
	return true
}

func (t *Task) onHandoffRequested(e event.HandoffRequested) {
	if e.Reason == event.ReasonEscalation && e.Ticket == 0 {
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
	unasked := t.Owner != "" && e.By != "agent/"+t.Owner
	if t.cameToDesk() && e.Ticket > 0 {
		unasked = t.Handoff.Unasked
	}
	t.Handoff = &Handoff{
		Unasked: unasked,
		N:       e.Handoff, Amended: claimed && t.Handoff.Amended, Kind: e.Kind, Claim: e.Claim, Stage: event.Requested, From: e.From, Recovery: e.Recovery, Stuck: e.Stuck, Counted: e.Attempt,
		Reason: e.Reason, Detail: e.Detail, Chain: e.Chain, Capability: e.Capability, Channel: e.Channel, Confirm: e.Confirm, Times: e.Timeouts,
		Retries: e.Retries, ReturnHome: e.ReturnHome, Approver: e.Approver, Envelope: e.Envelope, Pack: e.Pack,
		By: e.By, Ticket: e.Ticket, RouteStep: e.RouteStep, Decision: e.Decision, Permits: e.Permissions, Candidates: e.Candidates, Requested: e.At,
	}
	t.fresh = t.Handoff
	t.onCold(e)
}

func (t *Task) onApprovalAsked(e event.ApprovalAsked) {
	t.involve(e.Approver)
	h := t.ownHandoff()
	h.ApprovalEnds = e.Ends
	t.approvalTicket(e)
}

func (t *Task) onApproved(e event.Approved) {
	h := t.ownHandoff()
	t.closeTicket(event.TicketApproved, e.By, e.Detail, e.At)
	if e.Detail != "" {
		t.passed(passage.Passage{At: e.At, Kind: passage.HandoffApproved, By: e.By, Detail: e.Detail})
		h.Amended = true
	}
	h.ApprovalEnds = time.Time{}
	t.Deadline, t.Lease = e.Deadline, e.Lease
	t.Marks++ // an approval is a decision
}

func (t *Task) onDenied(e event.Denied) {
	t.closeTicket(event.TicketDenied, e.By, e.Detail, e.At)
	t.Marks++ // a denial is a decision
}

func (t *Task) onOfferMade(e event.OfferMade) {
	t.involve(e.To...)
	h := t.ownHandoff()
	h.Offer, h.To, h.Next, h.Tries, h.Rendition = e.Offer, e.To, e.Next, e.Try, ""
	h.Seen, h.SeenBy, h.RetryAt, h.AckEnds, h.OfferEnds = false, nil, time.Time{}, time.Time{}, e.Ends
	c := event.Candidate{Tier: e.Tier}
	if e.Next < len(h.Candidates) {
		c.Level = h.Candidates[e.Next].Level
	}
	if t.Climbs(c, e.Offer, e.Try) {
		t.Used.Escalations++
	}
	t.reachLevel(c.Level)
}

func (t *Task) onSeen(e event.Seen) {
	h := t.ownHandoff()
	h.Seen = true
	h.SeenBy = append(slices.Clip(h.SeenBy), e.Agent)
	if !e.Ends.IsZero() {
		h.OfferEnds, h.AckEnds = time.Time{}, e.Ends
	}
}

// onClaimJoined puts the agent last among the targets, before the fallbacks.
func (t *Task) onClaimJoined(e event.ClaimJoined) {
	t.involve(e.Agent)
	h := t.ownHandoff()
	h.To = append(slices.Clip(h.To), e.Agent)
	h.Next = min(h.Next+1, len(h.Candidates))
	h.Candidates = slices.Insert(slices.Clone(h.Candidates), h.Next, event.Candidate{Agent: e.Agent, Tier: event.TierTarget})
}

func (t *Task) onAcknowledged(e event.Acknowledged) {
	h := t.ownHandoff()
	h.Receiver, h.ConfirmEnds = e.Agent, e.Ends
	h.OfferEnds, h.AckEnds = time.Time{}, time.Time{}
}

// onRejectedOffer takes one receiver out of the offer, which is over when none is left.
func (t *Task) onRejectedOffer(e event.RejectedOffer) {
	h := t.ownHandoff()
	h.To = slices.DeleteFunc(slices.Clone(h.To), func(a string) bool { return a == e.Agent })
	t.rejectedBy(e)
	if len(h.To) == 0 {
		t.offerOver()
	}
}

// onOfferShed puts those who are asked instead right after the agent that has too much to do.
func (t *Task) onOfferShed(e event.OfferShed) {
	h := t.ownHandoff()
	peers := make([]event.Candidate, len(e.To))
	for i, agent := range e.To {
		peers[i] = event.Candidate{Agent: agent, Tier: event.TierFallback}
	}
	asked := min(h.Next+1, len(h.Candidates))
	rest := slices.DeleteFunc(slices.Clone(h.Candidates[asked:]), func(c event.Candidate) bool { return slices.Contains(e.To, c.Agent) })
	h.Candidates = slices.Concat(h.Candidates[:asked], peers, rest)
	t.offerOver()
}

// offerOver puts the handoff back to Requested: nobody holds an offer.
func (t *Task) offerOver() {
	h := t.ownHandoff()
	h.To, h.OfferEnds, h.AckEnds, h.Stage = nil, time.Time{}, time.Time{}, event.Requested
}

func (t *Task) onRetryScheduled(e event.RetryScheduled) {
	h := t.ownHandoff()
	h.RetryAt, h.Tries = e.At, e.Try
	for i := min(h.Next, len(h.Candidates)); i < len(h.Candidates); i++ {
		if h.Candidates[i].Agent == e.Agent {
			h.Next = i
			return
		}
	}
}

func (t *Task) onConfirmed(e event.Confirmed) {
	if !e.Auto {
		h := t.ownHandoff()
		h.Granted, h.Unasked = e.By, h.Unasked && e.By != t.Owner
	}
	if e.Envelope != "" {
		h := t.ownHandoff()
		h.Envelope, h.Rendition = e.Envelope, "" // what was packed lacks the notes
	}
}

func (t *Task) onMoved(e event.Moved) {
	h := t.ownHandoff()
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
	t.Envelope, t.AskedIn = e.Delivery, e.Delivery                    // what was shared meanwhile is no part of what moved
	t.Held = cmp.Or(h.Rendition, e.Delivery)
	if h.Ticket == 0 { // the person who took it over has handed it off, or it went elsewhere
		outcome := event.TicketWithdrawn
		if t.InPerson() != nil {
			outcome = event.TicketResolved
		}
		t.closeTicket(outcome, e.From, "", e.At)
	}
	if i := slices.IndexFunc(h.Candidates, func(c event.Candidate) bool { return c.Agent == e.To }); i >= 0 && h.Candidates[i].Level > 0 {
		t.Chain.Agent = e.To
	}
	t.dropContext(h)
	t.passedOn(h, e)
	t.Human, t.Giver = e.Human, Sender(t, h)
	if h.Kind == event.Cold {
		t.ColdAt = e.At
	}
	t.setOwner(e.To, e.Epoch, e.Lease, e.At)
	if h.By == "agent/"+e.To && slices.ContainsFunc(t.Takeovers, func(r TakeoverRequest) bool { return r.By == e.To }) {
		t.Resumed = true // it asked for the task, and was not there when it got it
	}
	t.dropTakeover(func(TakeoverRequest) bool { return true }) // they asked the former owner
}

func (t *Task) onReturned(e event.Returned) {
	if k := t.OpenTicket(); k != nil && k.Kind == event.TicketApproval {
		t.dropTicket(e.At)
	}
	t.closeHandoff(e.Why, e.At)
	t.ownHandoff().Stage = e.Outcome
	t.runClocks(e.Lease)
	if !e.Deadline.IsZero() {
		t.Deadline = e.Deadline
	}
	t.State, t.TakeUpBy = event.Pending, e.TakeUpBy
	t.Resumed = e.Tell || e.Outcome != event.Withdrawn // the source that took it back knows
	if t.Owner != "" {
		t.State = event.Executing
	}
}

func (t *Task) onSpawned(e event.Spawned) {
	t.askedElsewhere(e.Envelope)
	if e.NewWork {
		t.Marks++
	}
	children := slices.Clone(t.Children)
	for _, c := range e.Children {
		children = append(children, Child{Task: c.Task, Index: c.Index, To: c.To, Budget: c.Budget, State: event.Pending, Tasks: c.Tasks, Group: e.Group})
		t.Reserved = t.Reserved.Plus(c.Budget)
		t.Used.Tasks += 1 + c.Tasks
		t.passed(passage.Passage{At: e.At, Kind: passage.Delegated, By: e.From, To: c.To, Child: c.Task, Detail: c.Intent})
	}
	t.Children, t.Missed = children, nil
	if e.Kind == event.Broadcast { // a delegation has one receiver, of several that are named
		t.Missed = e.Passed
	}
	t.Used.Handoffs++
	if e.FanIn.Mode == event.FanInNone {
		return
	}
	t.runClocks(time.Time{})
	t.FanIn, t.Awaits, t.JoinBy, t.State = e.FanIn, e.Group, e.JoinBy, event.Waiting
}

func (t *Task) onChildEnded(e event.ChildEnded) {
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
		if i >= t.Withheld.Children { // the next envelope would tell its result to those who may not read it
			t.passed(passage.Passage{At: e.At, Kind: passage.DelegationEnded, By: c.To, Child: c.Task})
		}
	}
	if e.State == event.Completed && !e.Late {
		t.Marks++
	}
}

func (t *Task) onJoined(e event.Joined) {
	t.JoinBy = time.Time{}
	t.runClocks(e.Lease)
	t.State, t.Resumed = event.Executing, true
	if t.Owner == "" {
		t.State = event.Completed
		t.end(e.At, e.Result, event.Budget{})
	}
}
