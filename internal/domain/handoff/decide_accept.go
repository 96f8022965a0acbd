package handoff

import (
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// See notes that a receiver has the offer before it: it fetched it, or a push was delivered. The acknowledgment
// clock starts. Seeing twice changes nothing.
type See struct {
	Agent   string
	Handoff int
	Offer   int // 0: the newest
}

func (c See) decide(t task.Task, now time.Time) ([]event.Event, error) {
	h, err := offerTo(t, c.Agent, c.Handoff, c.Offer)
	if err != nil {
		return nil, err
	}
	if slices.Contains(h.SeenBy, c.Agent) {
		return nil, nil
	}
	e := event.Seen{Handoff: h.N, Offer: h.Offer, Agent: c.Agent}
	if len(h.To) == 1 && !h.OpenClaim() && !h.Candidates[h.Next].Human { // people take their time
		e.Ends = h.Times.Ack.After(now)
	}
	return []event.Event{e}, nil
}

// offerTo finds the open offer to agent. offer 0 means the newest.
func offerTo(t task.Task, agent string, handoff, offer int) (*task.Handoff, error) {
	if err := live(t); err != nil {
		return nil, err
	}
	h := t.Handoff
	if h == nil || handoff > h.N || handoff < 1 {
		return nil, refusal.New(refusal.NotFound, "look into your inbox", "task %s has no handoff %d", t.ID, handoff)
	}
	over := func(why string) error {
		return refusal.New(refusal.Expired, "nothing to do; look into your inbox for what is open",
			"the offer of handoff %s is over: %s", event.HandoffID(t.ID, handoff), why)
	}
	switch {
	case handoff < h.N:
		return nil, over("a later handoff has begun")
	case h.Stage == event.Accepted || h.Stage == event.Transferred:
		return nil, over("it was accepted by " + h.Receiver)
	case h.Stage == event.AwaitingApproval:
		return nil, refusal.New(refusal.Conflict, "wait until it is in your inbox", "handoff %s is not offered yet: it waits for an approval",
			event.HandoffID(t.ID, handoff))
	case h.Stage == event.Requested:
		return nil, over("it is to be offered again")
	case h.Stage != event.Offered:
		return nil, over("the handoff is " + string(h.Stage))
	case offer != 0 && offer != h.Offer:
		return nil, over("it has been offered again since")
	case !slices.Contains(h.To, agent):
		return nil, over("it is not addressed to " + agent)
	}
	return h, nil
}

// Accept takes an open offer: the second message of the handshake. With automatic confirm, ownership moves at once.
type Accept struct {
	By      identity.Principal
	Handoff int
	Offer   int // 0: the newest; another number than the newest is refused
}

func (c Accept) decide(t task.Task, now time.Time) ([]event.Event, error) {
	d := turn{t: t}
	h, err := d.offered(c.By.Agent(), c.Handoff, c.Offer, now)
	if err != nil {
		return nil, err
	}
	ack := event.Acknowledged{Handoff: h.N, Offer: h.Offer, Agent: c.By.Agent()}
	if h.Confirm == event.ConfirmExplicit {
		ack.Ends = h.Times.Confirm.After(now)
		d.do(ack)
		return d.events, nil
	}
	d.do(ack, event.Confirmed{Handoff: h.N, By: h.From, Auto: true})
	d.do(moved(d.t, now))
	return d.events, nil
}

// offered finds the open offer that an agent answers. One that was slow to answer, and is to be offered the task again after a
// pause, is offered it now, since it is there: a model that thinks for longer than the acknowledgment clock runs is not lost for that.
func (d *turn) offered(agent string, handoff, offer int, now time.Time) (*task.Handoff, error) {
	if h := d.t.Handoff; live(d.t) == nil && h != nil && h.N == handoff && h.Stage == event.Requested && !h.RetryAt.IsZero() && !h.Claim &&
		(offer == 0 || offer == h.Offer) && h.Next < len(h.Candidates) && h.Candidates[h.Next].Agent == agent && agent != "" {
		d.offerAgain(Hints{}, now)
		offer = d.t.Handoff.Offer
	}
	return offerTo(d.t, agent, handoff, offer)
}

// moved is the fourth message: the receiver owns the task.
func moved(t task.Task, now time.Time) event.Moved {
	h := t.Handoff
	after := t.Standing()
	after.State, after.Owner, after.Epoch = event.Executing, h.Receiver, t.Epoch+1
	if h.Permits != nil {
		after.Permissions = h.Permits
	}
	m := event.Moved{
		Handoff: h.N, From: h.From, To: h.Receiver, Epoch: after.Epoch, Lease: h.Times.Lease.After(now), Hop: !h.Recovery,
		Delivery: h.Envelope, After: after, At: now,
	}
	for _, c := range h.Candidates {
		if c.Agent == h.Receiver && c.Human {
			m.Human, m.Lease = true, h.Times.People().After(now)
		}
	}
	return m
}

// Confirm lets go: the third message, by the source, where the handoff wants it explicitly. It may bring an
// envelope with last notes, whose parent is the one that was accepted.
type Confirm struct {
	By       identity.Principal
	Epoch    uint64
	Handoff  int
	Envelope event.Sealed
}

func (c Confirm) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := standsBehind(t, c.By, c.Epoch); err != nil {
		return nil, err
	}
	h := t.InFlight()
	if h == nil || h.N != c.Handoff || h.Stage != event.Accepted {
		return nil, refusal.New(refusal.Conflict, "fetch the handoff and look at its stage", "handoff %s does not wait for a confirm",
			event.HandoffID(t.ID, c.Handoff))
	}
	d := turn{t: t}
	e := event.Confirmed{Handoff: h.N, By: c.By.Short()}
	if c.Envelope.Digest != "" {
		if h.Kind == event.Supervised {
			return nil, refusal.New(refusal.NotPermitted, "confirm without notes", "what was approved is what moves: handoff %s takes no more notes",
				h.ID(t.ID))
		}
		if err := follows(t, c.Envelope); err != nil {
			return nil, err
		}
		d.do(c.Envelope)
		e.Envelope = c.Envelope.Digest
	}
	d.do(e)
	d.do(moved(d.t, now))
	return d.events, nil
}

// Reject turns an offer down. It goes to the next candidate, or back to the source.
type Reject struct {
	By      identity.Principal
	Handoff int
	Offer   int
	Why     event.Rejection
	Missing []string // fields that the receiver would need; with MissingContext
	Detail  string
	Hints   Hints
}

func (c Reject) decide(t task.Task, now time.Time) ([]event.Event, error) {
	d := turn{t: t}
	h, err := d.offered(c.By.Agent(), c.Handoff, c.Offer, now)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	d.do(event.RejectedOffer{Handoff: h.N, Offer: h.Offer, Agent: c.By.Agent(), Why: c.Why, Missing: c.Missing, Detail: c.Detail})
	if d.t.Handoff.Stage == event.Requested {
		d.nextOrEnd(c.how(), nil, c.Hints, now)
	}
	return d.events, nil
}

// how says who turned the offer down and why, so that the source reads what to do about it where it sees that its task is back.
func (c Reject) how() string {
	s := c.By.Agent() + " turned it down: " + strings.ReplaceAll(string(c.Why), "_", " ")
	if len(c.Missing) > 0 {
		s += " (" + strings.Join(c.Missing, ", ") + ")"
	}
	if c.Detail != "" {
		s += ": " + c.Detail
	}
	return brief(s)
}

// maxHow is how much an outcome repeats of what somebody said, in bytes; the whole is an event of its own.
const maxHow = 500

// brief is a text as an outcome repeats it.
func brief(s string) string {
	if len(s) > maxHow {
		s = strings.ToValidUTF8(s[:maxHow], "") + "…"
	}
	return s
}

func (c Reject) check() error {
	switch {
	case c.Why == "":
		return refusal.New(refusal.Invalid, "say not_capable, overloaded, missing_context or refused", "a rejection needs a reason")
	case c.Why == event.MissingContext && len(c.Missing) == 0:
		return refusal.New(refusal.Invalid, "name the missing fields", "missing context without naming what is missing helps nobody")
	}
	return firstError(event.CheckMissing(c.Missing), event.CheckText("the detail", c.Detail, event.MaxText))
}

// Withdraw takes a handoff under way back, as its source or an operator.
type Withdraw struct {
	By      identity.Principal
	Epoch   uint64
	Handoff int
	Detail  string
}

func (c Withdraw) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := standsBehind(t, c.By, c.Epoch); err != nil {
		return nil, err
	}
	if err := event.CheckText("the detail", c.Detail, event.MaxText); err != nil {
		return nil, err
	}
	h := t.InFlight()
	if h == nil || h.N != c.Handoff {
		return nil, refusal.New(refusal.Conflict, "nothing to withdraw", "handoff %s is over", event.HandoffID(t.ID, c.Handoff))
	}
	why := "withdrawn by " + c.By.Short()
	if c.Detail != "" {
		why += ": " + c.Detail
	}
	return []event.Event{returned(t, event.Withdrawn, why, now)}, nil
}

// JoinClaim adds an agent that became ready to an open claim. Whoever was asked before is not asked again, and nobody
// joins whom an approval did not name.
type JoinClaim struct {
	Agent   string
	Handoff int
}

func (c JoinClaim) decide(t task.Task, _ time.Time) ([]event.Event, error) {
	h := t.InFlight()
	if h == nil || h.N != c.Handoff || !h.OpenClaim() || h.Kind == event.Supervised || c.Agent == "" || c.Agent == t.Owner ||
		len(h.Candidates) >= event.MaxCandidates ||
		slices.ContainsFunc(h.Candidates, func(o event.Candidate) bool { return o.Agent == c.Agent }) || t.Loop(c.Agent, false) != "" {
		return nil, nil
	}
	return []event.Event{event.ClaimJoined{Handoff: h.N, Agent: c.Agent}}, nil
}
