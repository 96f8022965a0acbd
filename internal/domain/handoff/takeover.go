package handoff

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Takeover requests the task, as its new owner. The task moves at once if the owner's lease is lost; otherwise the owner is
// asked, and continues to work meanwhile.
type Takeover struct {
	By       identity.Principal
	Detail   string
	Envelope event.Sealed // needed only if the task moves at once
}

func (c Takeover) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := authority.RequireLive(t); err != nil {
		return nil, err
	}
	switch {
	case c.By.Agent() == "":
		return nil, refusal.New(refusal.Invalid, "[hand the task](send) to an agent instead", "only an agent can take a task over")
	case c.By.Agent() == t.Owner:
		return nil, task.AlreadyOwned(&t, refusal.Conflict)
	case t.State == event.Parked:
		return nil, refusal.New(refusal.Conflict, task.Replay(t.ID, "to="+c.By.Agent()), "task %s is in the dead letters", t.ID)
	}
	if err := firstError(requireReady(t), event.CheckField("detail", c.Detail)); err != nil {
		return nil, err
	}
	if t.OwnerLost(now) {
		return taken(t, taking{agent: c.By.Agent(), reason: event.ReasonRecovery, detail: c.Detail, envelope: c.Envelope}, now)
	}
	if slices.ContainsFunc(t.Takeovers, func(a task.TakeoverRequest) bool { return a.By == c.By.Agent() }) {
		return nil, nil
	}
	if len(t.Takeovers) >= event.MaxTakeovers {
		return nil, refusal.New(refusal.Limit, "[wait until the owner has answered](task wait)", "%d agents have asked for task %s already", event.MaxTakeovers, t.ID)
	}
	return []event.Event{event.TakeoverAsked{Takeover: t.TakeoverCount + 1, By: c.By.Agent(), Detail: c.Detail}}, nil
}

// taking is a takeover that was granted: the agent, the reason, and the principal that granted it (zero for a lost owner), and why.
type taking struct {
	agent       string
	reason      event.Reason
	detail, why string
	envelope    event.Sealed
	by          identity.Principal
}

// taken moves the task to an agent that has requested it: all four messages in one decision.
func taken(t task.Task, c taking, now time.Time) ([]event.Event, error) {
	recovery := c.reason == event.ReasonRecovery
	if h := t.InFlight(); t.State != event.Pending && t.State != event.Executing && (h == nil || !h.Recovery) {
		return nil, busy(t)
	}
	if c.envelope.Digest == "" && t.Envelope == "" {
		return nil, refusal.New(refusal.Invalid, "give the digest of a sealed envelope", "a takeover needs an envelope")
	}
	if err := requireNewest(t, c.envelope); err != nil {
		return nil, err
	}
	if why := t.Loop(c.agent, false); why != "" && !recovery {
		return nil, refusal.New(refusal.Limit, "[make progress](task progress "+t.ID+") first, or [hand it](send "+t.ID+") to somebody else", "%s", why)
	}
	if limit := task.LimitReached(&t, c.reason); limit != "" && !recovery {
		return []event.Event{park(event.ParkLimit, limit, now)}, nil
	}
	d := decision{t: t}
	h := t.InFlight()
	attempt := recovery && (h == nil || !h.Counted) // the one in flight may have been counted
	if h != nil {
		d.do(task.Returned(&t, event.Withdrawn, "taken over by "+c.agent, false, now))
	}
	if attempt && h == nil && !d.attempt(now) {
		return d.events, nil
	}
	if c.envelope.Digest != "" {
		d.do(c.envelope)
	}
	d.do(event.HandoffRequested{
		Handoff: d.t.NextHandoff(), Kind: event.Warm, From: t.Source(), Recovery: recovery, Attempt: attempt, Reason: c.reason,
		Detail: c.detail, Candidates: []event.Candidate{{Agent: c.agent, Tier: event.TierTarget}}, Confirm: event.ConfirmAuto,
		Timeouts: t.Times, Envelope: d.t.Envelope, By: "agent/" + c.agent, Before: t.Standing(), At: now,
	})
	h = d.t.Handoff
	letGo := event.Confirmed{Handoff: h.N, By: h.From, Auto: recovery}
	if !recovery {
		letGo.By, letGo.Detail = c.by.Short(), c.why
	}
	d.do(event.OfferMade{Handoff: h.N, Offer: 1, To: []string{c.agent}, Tier: event.TierTarget, Ends: h.Times.Offer.After(now)},
		event.Acknowledged{Handoff: h.N, Offer: 1, Agent: c.agent}, letGo)
	d.do(moved(d.t, now))
	return d.events, nil
}
