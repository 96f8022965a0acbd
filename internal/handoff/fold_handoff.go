package handoff

import (
	"slices"
	"time"
)

func (e HandoffRequested) fold(t *Task) {
	t.Used.Handoffs++
	if e.Reason == ReasonEscalation {
		t.Used.Escalations++
	}
	if e.Recovery {
		t.Used.Attempts++
	}
	if e.NewWork {
		t.Marks++
	}
	if e.RouteStep && len(t.Route) > 0 {
		t.Route = t.Route[1:]
	}
	t.Handoff = &Handoff{
		N: e.Handoff, Kind: e.Kind, Claim: e.Claim, Stage: Requested, From: e.From, Recovery: e.Recovery,
		Reason: e.Reason, Detail: e.Detail, Capability: e.Capability, Confirm: e.Confirm, Times: e.Timeouts,
		Retries: e.Retries, ReturnHome: e.ReturnHome, Approver: e.Approver, Envelope: e.Envelope,
		Permits: e.Permissions, Candidates: e.Candidates, Requested: e.At,
	}
}

func (e ApprovalAsked) fold(t *Task) {
	h := t.touch()
	h.ApprovalEnds = e.Ends
}

func (e Approved) fold(t *Task) {
	t.touch().ApprovalEnds = time.Time{}
	t.Deadline, t.Lease = e.Deadline, e.Lease
	t.Marks++ // an approval is a decision
}

func (e Denied) fold(t *Task) { t.Marks++ }

func (e OfferMade) fold(t *Task) {
	h := t.touch()
	h.Offer, h.To, h.Next, h.Tries = e.Offer, e.To, e.Next, e.Try
	h.Seen, h.SeenBy, h.RetryAt, h.AckEnds, h.OfferEnds = false, nil, time.Time{}, time.Time{}, e.Ends
	if e.Tier == TierEscalation && e.Try == 0 {
		t.Used.Escalations++
	}
}

func (e Seen) fold(t *Task) {
	h := t.touch()
	h.Seen = true
	h.SeenBy = append(slices.Clip(h.SeenBy), e.Agent)
	if !e.Ends.IsZero() {
		h.OfferEnds, h.AckEnds = time.Time{}, e.Ends
	}
}

func (e ClaimJoined) fold(t *Task) {
	h := t.touch()
	h.To = append(slices.Clip(h.To), e.Agent)
	h.Candidates = append(slices.Clip(h.Candidates), Candidate{Agent: e.Agent, Tier: TierTarget})
}

func (e Acknowledged) fold(t *Task) {
	h := t.touch()
	h.Receiver, h.ConfirmEnds = e.Agent, e.Ends
	h.OfferEnds, h.AckEnds = time.Time{}, time.Time{}
}

func (e RejectedOffer) fold(t *Task) {
	h := t.touch()
	h.To = slices.DeleteFunc(slices.Clone(h.To), func(a string) bool { return a == e.Agent })
	if len(h.To) == 0 {
		t.offerOver()
	}
}

func (e OfferExpired) fold(t *Task) { t.offerOver() }
func (e Unanswered) fold(t *Task)   { t.offerOver() }
func (e Undelivered) fold(t *Task)  { t.offerOver() }

// offerOver puts the handoff back to Requested: nobody holds an offer.
func (t *Task) offerOver() {
	h := t.touch()
	h.To, h.OfferEnds, h.AckEnds, h.Stage = nil, time.Time{}, time.Time{}, Requested
}

func (e RetryScheduled) fold(t *Task) {
	h := t.touch()
	h.RetryAt, h.Tries = e.At, e.Try
}

func (e Confirmed) fold(t *Task) {
	if e.Envelope != "" {
		t.touch().Envelope = e.Envelope
	}
}

func (e Moved) fold(t *Task) {
	h := t.touch()
	h.Ended, h.ConfirmEnds = e.At, time.Time{}
	if e.Hop {
		t.Used.Hops++
	}
	if h.Permits != nil {
		t.Permissions = h.Permits
	}
	t.own(e.To, e.Epoch, e.Lease)
	t.dropAsk(func(Ask) bool { return true }) // they asked the former owner
}

func (e Returned) fold(t *Task) {
	t.close(e.Why, e.At)
	t.touch().Stage = e.Outcome
	t.Lease = e.Lease
	t.State = Pending
	if t.Owner != "" {
		t.State = Executing
	}
}

func (e Spawned) fold(t *Task) {
	children := slices.Clone(t.Children)
	for _, c := range e.Children {
		children = append(children, Child{Task: c.Task, To: c.To, Budget: c.Budget, State: Pending, Group: e.Group})
		t.Reserved = t.Reserved.plus(c.Budget)
	}
	t.Children = children
	t.Used.Handoffs++
	if e.FanIn.Mode == FanInNone {
		return
	}
	t.FanIn, t.Awaits, t.JoinBy, t.Lease, t.State = e.FanIn, e.Group, e.JoinBy, time.Time{}, Waiting
}

func (e ChildEnded) fold(t *Task) {
	i := t.child(e.Child)
	if i < 0 {
		return
	}
	t.Children = slices.Clone(t.Children)
	c := &t.Children[i]
	was := c.State
	c.State, c.Result = e.State, e.Result
	if e.State.Final() && !was.Final() {
		t.Reserved = t.Reserved.minus(c.Budget)
		t.Spent = t.Spent.plus(e.Spent)
	}
	if e.State == Completed && !e.Late {
		t.Marks++
	}
}

func (e Joined) fold(t *Task) {
	t.JoinBy, t.Lease = time.Time{}, e.Lease
	t.State = Executing
	if t.Owner == "" {
		t.State = Completed
		t.end(e.At, e.Result, Budget{})
	}
}
