package handoff

import (
	"fmt"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
)

// Takeover asks for the task, as its would-be receiver. It moves at once where the owner's lease is lost; otherwise
// the owner is asked, and its work is not disturbed meanwhile.
type Takeover struct {
	By       By
	Detail   string
	Envelope fact.Sealed // needed only where the task moves at once
}

func (c Takeover) decide(t Task, now time.Time) ([]fact.Event, error) {
	if err := t.live(); err != nil {
		return nil, err
	}
	switch {
	case c.By.Agent == "":
		return nil, refusal.New(refusal.Invalid, "hand the task to an agent instead", "only an agent can take a task over")
	case c.By.Agent == t.Owner:
		return nil, refusal.New(refusal.Conflict, "nothing to do", "%s owns task %s already", c.By.Agent, t.ID)
	case t.State == fact.Parked:
		return nil, refusal.New(refusal.Conflict, "an operator can replay it to you", "task %s is in the dead-letter queue", t.ID)
	}
	if err := firstError(t.ready(), fact.CheckText("the detail", c.Detail, fact.MaxText)); err != nil {
		return nil, err
	}
	if t.ownerLost(now) {
		return t.taken(c.By.Agent, fact.ReasonRecovery, c.Detail, c.Envelope, now)
	}
	if slices.ContainsFunc(t.Asks, func(a Ask) bool { return a.By == c.By.Agent }) {
		return nil, nil
	}
	if len(t.Asks) >= fact.MaxAsks {
		return nil, refusal.New(refusal.Limit, "wait until the owner has answered", "%d agents have asked for task %s already", fact.MaxAsks, t.ID)
	}
	return []fact.Event{fact.TakeoverAsked{Ask: t.AskCount + 1, By: c.By.Agent, Detail: c.Detail}}, nil
}

// ownerLost reports whether the owner has let its lease end and nobody has accepted the recovery yet.
func (t Task) ownerLost(now time.Time) bool {
	h := t.InFlight()
	return t.Owner != "" && (t.State == fact.Executing && now.After(t.Lease) || h != nil && h.Recovery && h.Stage != fact.Accepted)
}

// taken moves the task to an agent that has asked for it: all four messages in one decision.
func (t Task) taken(agent string, reason fact.Reason, detail string, envelope fact.Sealed, now time.Time) ([]fact.Event, error) {
	if h := t.InFlight(); h != nil && !h.Recovery {
		return nil, refusal.New(refusal.Conflict, "wait for it to end", "handoff %s is under way", h.ID(t.ID))
	}
	if t.State == fact.Waiting {
		return nil, refusal.New(refusal.Conflict, "wait for its children", "task %s waits for its children", t.ID)
	}
	d := turn{t: t}
	if h := t.InFlight(); h != nil {
		d.do(t.returned(fact.Withdrawn, "taken over by "+agent, now))
	}
	recovery := reason == fact.ReasonRecovery
	if why := d.t.loop(agent, false); why != "" && !recovery {
		return nil, refusal.New(refusal.Limit, "make progress first, or hand it to somebody else", "%s", why)
	}
	if parked := d.t.overLimit(reason, now); parked != nil && !recovery {
		return []fact.Event{parked}, nil
	}
	if envelope.Digest != "" {
		d.do(envelope)
	}
	d.do(fact.HandoffRequested{
		Handoff: d.t.nextHandoff(), Kind: fact.Warm, From: t.Source(), Recovery: recovery, Reason: reason, Detail: detail,
		Candidates: []fact.Candidate{{Agent: agent, Tier: fact.TierTarget}}, Confirm: fact.ConfirmAuto, Timeouts: t.Times,
		Envelope: d.t.Envelope, Before: t.standing(), At: now,
	})
	h := d.t.Handoff
	d.do(fact.OfferMade{Handoff: h.N, Offer: 1, To: []string{agent}, Tier: fact.TierTarget, Ends: h.Times.Offer.After(now)},
		fact.Acknowledged{Handoff: h.N, Offer: 1, Agent: agent},
		fact.Confirmed{Handoff: h.N, By: h.From, Auto: recovery})
	d.do(d.t.moved(now))
	return d.events, nil
}

// GrantTakeover gives the task to an agent that asked for it, as its source or an operator.
type GrantTakeover struct {
	By       By
	Epoch    uint64
	Ask      int
	Envelope fact.Sealed
}

func (c GrantTakeover) decide(t Task, now time.Time) ([]fact.Event, error) {
	ask, err := t.asked(c.By, c.Epoch, c.Ask)
	if err != nil {
		return nil, err
	}
	return t.taken(ask.By, fact.ReasonUserRequest, ask.Detail, c.Envelope, now)
}

// RefuseTakeover keeps the task.
type RefuseTakeover struct {
	By     By
	Epoch  uint64
	Ask    int
	Detail string
}

func (c RefuseTakeover) decide(t Task, _ time.Time) ([]fact.Event, error) {
	if _, err := t.asked(c.By, c.Epoch, c.Ask); err != nil {
		return nil, err
	}
	if err := fact.CheckText("the detail", c.Detail, fact.MaxText); err != nil {
		return nil, err
	}
	return []fact.Event{fact.TakeoverRefused{Ask: c.Ask, By: c.By.name(), Detail: c.Detail}}, nil
}

func (t Task) asked(by By, epoch uint64, n int) (Ask, error) {
	if err := t.standsBehind(by, epoch); err != nil {
		return Ask{}, err
	}
	for _, a := range t.Asks {
		if a.N == n {
			return a, nil
		}
	}
	return Ask{}, refusal.New(refusal.NotFound, "fetch the task to see who asks for it", "nobody asks for task %s under number %d", t.ID, n)
}

// ShareEnvelope gives a sealed envelope to an agent without moving ownership.
type ShareEnvelope struct {
	By       By
	Epoch    uint64
	To       string
	Detail   string
	Envelope fact.Sealed
}

func (c ShareEnvelope) decide(t Task, _ time.Time) ([]fact.Event, error) {
	if err := t.standsBehind(c.By, c.Epoch); err != nil {
		return nil, err
	}
	if err := firstError(fact.CheckName("an agent", c.To), fact.CheckText("the detail", c.Detail, fact.MaxText)); err != nil {
		return nil, err
	}
	if len(t.Shares) >= fact.MaxShares {
		return nil, refusal.New(refusal.Limit, "hand the task off instead", "task %s has been shared %d times", t.ID, fact.MaxShares)
	}
	digest := t.Envelope
	var events []fact.Event
	if c.Envelope.Digest != "" {
		if c.Envelope.Parent != t.Envelope {
			return nil, refusal.New(refusal.Conflict, "seal it again", "the envelope does not follow the task's newest one")
		}
		digest = c.Envelope.Digest
		events = append(events, c.Envelope)
	}
	if digest == "" {
		return nil, refusal.New(refusal.Invalid, "say what to share", "task %s has no envelope yet", t.ID)
	}
	return append(events, fact.Shared{Share: len(t.Shares) + 1, From: t.Source(), To: c.To, Envelope: digest, Detail: c.Detail}), nil
}

// ReadShare notes that the agent has fetched what was shared with it.
type ReadShare struct {
	By    By
	Share int
}

func (c ReadShare) decide(t Task, _ time.Time) ([]fact.Event, error) {
	for _, s := range t.Shares {
		if s.N == c.Share && s.To == c.By.Agent {
			if s.Read {
				return nil, nil
			}
			return []fact.Event{fact.ShareRead{Share: s.N}}, nil
		}
	}
	return nil, refusal.New(refusal.NotFound, "look into your inbox", "nothing is shared with %s as %s", c.By.name(),
		fmt.Sprintf("%.64s", ShareID(t.ID, c.Share)))
}
