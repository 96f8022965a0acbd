package figure

import (
	"cmp"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// counted names the events that [count.event] counts: others are not decoded.
func counted() map[string]bool {
	names := map[string]bool{}
	for _, ev := range []event.Event{
		event.Created{},
		event.Started{},
		event.Joined{},
		event.HandoffRequested{},
		event.ApprovalAsked{},
		event.Denied{},
		event.OfferMade{},
		event.Seen{},
		event.Acknowledged{},
		event.RejectedOffer{},
		event.OfferExpired{},
		event.Unanswered{},
		event.OfferShed{},
		event.RetryScheduled{},
		event.Confirmed{},
		event.Moved{},
		event.Returned{},
		event.LeaseLost{},
		event.OwnerStuck{},
		event.ParkedTask{},
		event.Replayed{},
		event.Discarded{},
		event.Finished{},
		event.GaveUp{},
		event.Called{},
		event.TicketOpened{},
		event.Shared{},
		event.Rendered{},
	} {
		names[ev.EventName()] = true
	}
	return names
}

// count counts the events of one entry of a task.
type count struct {
	*Tally
	e         *ledger.Entry
	workspace string
	label     string // of the workspace
	id        string
	w         *work // nil before the task exists and after it has ended
}

func (c *count) event(ev event.Event) {
	if e, created := ev.(event.Created); created {
		c.w = c.newWork(&e)
		c.open[c.e.Stream] = c.w
		c.set.Add(TasksCreated, 1, c.label)
		c.set.Add(TasksOpen, 1, c.label)
		c.change(c.e.Position, c.workspace, Open{Tasks: 1})
		return
	}
	if c.w == nil { // it has ended, or the record lacks how it began
		if e, ok := ev.(event.Moved); ok && !c.away {
			c.moved(e.Handoff, false)
		}
		return
	}
	switch e := ev.(type) {
	case event.Started:
		c.w.owned = true
	case event.Joined:
		if !c.w.owned { // the task was its children's alone
			c.over(event.Completed)
		}
	case event.OwnerStuck:
		c.made(true)
		c.lose()
		c.set.Add(OwnersStuck, 1, c.label)
	case event.LeaseLost:
		c.made(true)
		c.lose()
		c.set.Add(LeasesLost, 1, c.label)
	case event.ApprovalAsked:
		c.set.Add(TicketsOpened, 1, c.label, string(event.TicketApproval))
	case event.TicketOpened:
		c.set.Add(TicketsOpened, 1, c.label, string(e.Kind))
		if e.Handoff != 0 {
			c.end(event.AtDesk)
		}
	case event.Shared:
		c.w.shared = strings.Clone(e.From)
	case event.Rendered:
		c.rendered(e)
	case event.ParkedTask:
		c.end(event.DeadLettered)
		c.park(true)
		c.set.Add(DeadLettersAdded, 1, c.label, string(e.Cause))
	case event.Replayed:
		c.park(false)
	case event.Finished:
		c.left(e.Agent)
		c.made(false)
		c.over(event.Completed)
	case event.GaveUp:
		c.left(e.Agent)
		c.made(true)
		c.lose()
		c.over(event.Failed)
	case event.Called, event.Discarded:
		c.over(event.Cancelled)
	default:
		c.handoff(ev)
	}
}

// newWork is a task that was just created. What its parent had no time for, or had lost before, is still the doing of whose it was there.
func (c *count) newWork(e *event.Created) *work {
	w := &work{version: c.e.Version, requester: strings.Clone(event.Bare(e.Requester)), times: e.Timeouts.WithDefaults()}
	over, by := event.Timeouts{}.WithDefaults(), ""
	if parent := c.open[ledger.StreamOf(c.workspace, ledger.TaskKind, e.Parent.Task)]; e.Parent.Task != "" && parent != nil {
		over, by, w.loser = parent.times, parent.hurried, parent.loser
	}
	w.hurried = hurrying(w.times, over, w.requester, by)
	return w
}

// senderOf is the principal on whose account a handoff is: the one that asked for it; if the server did, the one whose task it is; if it replaces an
// owner, the requester. It is an agent by its name, others with their role.
func (c *count) senderOf(e *event.HandoffRequested) string {
	by := e.By
	switch {
	case e.Recovery:
		by = c.w.requester
	case strings.HasPrefix(by, "system/"):
		by = ""
	}
	return strings.Clone(event.Bare(cmp.Or(by, e.From))) // it may be a part of a long text
}

// hurrying is the principal that has offers end sooner than usual; "" if none does: the one that gives these times, if they are shorter than
// those that they replace, and else the one that gave those.
func hurrying(times, over event.Timeouts, giver, before string) string {
	shorter := func(than event.Timeouts) bool { return times.Offer < than.Offer || times.Ack < than.Ack }
	switch {
	case !shorter(event.Timeouts{}.WithDefaults()):
		return ""
	case shorter(over):
		return giver
	}
	return before
}

// handoff counts an event of a handoff.
func (c *count) handoff(ev event.Event) {
	if e, ok := ev.(event.HandoffRequested); ok {
		c.left(e.From)
		c.set.Add(HandoffsRequested, 1, c.label, string(e.Kind), string(e.Reason))
		c.set.Add(HandoffsOpen, 1, c.label)
		c.w.last, c.w.from = e.Handoff, c.senderOf(&e)
		times := e.Timeouts.Over(c.w.times)
		c.w.flight = &flight{source: strings.Clone(e.From), hurried: hurrying(times, c.w.times, c.w.from, c.w.hurried), times: times, Handoff: Handoff{
			Workspace: c.workspace, Task: c.id, N: e.Handoff, Kind: e.Kind, Reason: e.Reason, Requested: c.e.Time, Completeness: -1, Utilisation: -1, fullness: -1,
		}}
		return
	}
	f := c.w.flight
	if f == nil {
		if e, ok := ev.(event.Moved); ok { // the record lacks its request
			c.moved(e.Handoff, false)
		}
		return
	}
	switch e := ev.(type) {
	case event.OfferMade:
		c.offer("made")
		f.offered = c.e.Time
		f.target, f.looked = "", false
		if len(e.To) == 1 {
			f.Agent = e.To[0]
			f.target = f.Agent
		}
	case event.Seen:
		c.offer("seen")
		f.looked = true
		c.looks(c.workspace, e.Agent)
		c.delivered(f, e.Agent)
	case event.Acknowledged:
		c.offer("accepted")
		c.answer(e.Agent, f)
		c.delivered(f, e.Agent)
		f.Agent, f.accepted, f.Acceptance = e.Agent, true, c.e.Time.Sub(f.Requested)
		c.set.Observe(HandoffAcceptance, f.Acceptance.Seconds(), c.label, c.agent(c.workspace, e.Agent), string(f.Kind))
		c.set.Observe(ReasonAcceptance, f.Acceptance.Seconds(), c.label, string(f.Kind), string(f.Reason))
	case event.RejectedOffer:
		c.offer("rejected")
		c.answer(e.Agent, f)
		f.silent = false
		c.delivered(f, e.Agent) // also of an offer that it has rejected by its id, without a look at the inbox
	case event.OfferExpired:
		c.offer("expired")
		c.missed(f)
		f.silent = true
	case event.Unanswered:
		c.offer("unanswered")
		f.silent = true
	case event.OfferShed:
		c.offer("shed")
	case event.RetryScheduled:
		f.Retries++
		c.set.Add(Retries, 1, c.label)
	case event.Denied:
		f.denied = true
	case event.Confirmed:
		f.confirmed = true
	case event.Moved:
		if e.Hop {
			c.w.hops++
		}
		c.moved(e.Handoff, f.accepted && f.confirmed && !c.w.gap && f.N == e.Handoff)
		f.Agent, c.w.owned, c.w.moved = e.To, true, e.Handoff
		c.hold(&e)
		f.Hops = c.w.hops
		c.end(event.Transferred)
		c.w.got = c.w.ended
	case event.Returned:
		c.end(e.Outcome)
	}
}

// moved counts a handoff that moved the task, and whether its whole handshake is in the record.
func (c *count) moved(handoff int, whole bool) {
	n, p := c.covered[c.label], c.of(c.workspace)
	n[1]++
	p.moved++
	if whole {
		n[0]++
	} else {
		p.bare++
		p.uncovered.add(event.HandoffID(c.id, handoff), c.e.Time)
	}
	c.covered[c.label] = n
}

// lose notes that the owner failed or lost the task.
func (c *count) lose() {
	c.w.lost = c.w.moved
	if k := c.recent.at(c.w.got); k != nil {
		k.lost = true
	}
}

// left ends the handoff in progress, if there is one when an owner acts: by the rules there is none. If it is not the owner that asked for the handoff, that
// moved the task, in an entry that the record lacks.
func (c *count) left(owner string) {
	if f := c.w.flight; f != nil && c.w.gap && f.source != owner {
		c.moved(f.N, false)
		c.end(event.Transferred)
	}
	c.end(event.Withdrawn)
}

func (c *count) offer(what string) { c.set.Add(Offers, 1, c.label, what) }

// delivered notes that a receiver has the offer, if it is the first.
func (c *count) delivered(f *flight, agent string) {
	if f.seen {
		return
	}
	f.seen, f.Agent, f.Delivery = true, agent, c.e.Time.Sub(f.Requested)
	c.set.Observe(HandoffDelivery, f.Delivery.Seconds(), c.label, c.agent(c.workspace, agent), string(f.Kind))
	c.set.Observe(ReasonDelivery, f.Delivery.Seconds(), c.label, string(f.Kind), string(f.Reason))
}

func (c *count) rendered(e event.Rendered) {
	c.set.Observe(EnvelopeTokens, float64(e.Tokens), c.label)
	c.set.Observe(EnvelopeCompleteness, e.Completeness, c.label)
	at := c.of(c.workspace).at(c.e.Time)
	at.packed++
	at.completeness += e.Completeness
	sender := c.w.from
	if e.Handoff == 0 {
		sender = c.w.shared
	}
	at.envelopes.add(party{sender: sender}, account{all: e.Completeness})
	if e.Completeness < 1 {
		at.lacking++
		c.lost(at, &e, sender)
	}
	utilisation, fullness := -1.0, -1.0 // of no budget
	if e.Budget > 0 {
		utilisation = e.Utilisation
		if fullness = utilisation; e.OverBudget > 0 {
			fullness = 1
		}
		c.set.Observe(EnvelopeUtilisation, utilisation, c.label)
		c.set.Observe(EnvelopeFullness, fullness, c.label)
		at.budgeted++
		at.utilisation += utilisation
		at.fullness += fullness
	}
	if f := c.w.flight; f != nil {
		if f.N == e.Handoff {
			f.Tokens, f.Utilisation, f.fullness, f.Completeness = e.Tokens, utilisation, fullness, e.Completeness
		}
		return
	}
	k := c.recent.at(c.w.ended) // a receiver that accepts at once gets its envelope with the task, after the end of the handoff
	if k != nil && int(k.n) == e.Handoff {
		k.tokens, k.utilisation, k.fullness, k.completeness = int32(e.Tokens), utilisation, fullness, e.Completeness //nolint:gosec // a small number
	}
}

// lost counts what an envelope of a sender lacks: what was forgotten as the doing of those who forgot it, and the rest as that of the first who lost something.
// What is lost once is lost at each hop after it. The cause of what was forgotten may be either: one agent alone must not be enough.
func (c *count) lost(at *slot, e *event.Rendered, sender string) {
	c.w.loser = cmp.Or(c.w.loser, sender)
	rest := 1 - e.Completeness
	at.envelopes.add(party{sender: c.w.loser}, account{caused: rest})
	for _, f := range e.Forgotten {
		by, of := strings.Clone(event.Bare(f.By)), account{all: f.Share, wrong: f.Share, caused: f.Share}
		if by == c.w.loser {
			of.caused = 0 // it is in the rest
		}
		at.envelopes.add(party{sender: by}, of)
		rest -= f.Share
	}
	if rest > rounding {
		at.envelopes.add(party{sender: c.w.loser}, account{all: rest, wrong: rest})
	}
}

// end ends the handoff in progress, if there is one.
func (c *count) end(outcome event.Stage) {
	f := c.w.flight
	if f == nil {
		return
	}
	c.w.flight = nil
	f.Ended, f.Outcome = c.e.Time, outcome
	f.Agent = strings.Clone(f.Agent) // it may be a part of a long text
	switch outcome {
	case event.Rejected, event.Expired, event.Undeliverable, event.DeadLettered:
		f.Failed = !f.denied
	default:
	}
	c.set.Add(HandoffsOpen, -1, c.label)
	c.set.Add(HandoffsEnded, 1, c.label, string(f.Kind), string(f.Reason), string(outcome))
	at := c.of(c.workspace).at(c.e.Time)
	at.ended++
	by, of := party{sender: c.w.from}, account{all: 1}
	if f.Failed {
		at.failed++
		hurried := c.hurried(f)
		by.sender = cmp.Or(hurried, by.sender)
		by.receiver, of.wrong = f.Agent, 1
		if hurried != "" || !c.fellSilent(f) {
			of.caused = 1
		}
		c.set.Add(HandoffsFailed, 1, c.label, string(f.Kind), string(f.Reason))
	}
	at.handoffs.add(by, of)
	c.recent.add(&f.Handoff)
	c.w.ended = c.recent.added
}

// park counts that the task entered or left the dead letters.
func (c *count) park(parked bool) {
	if parked == c.w.parked {
		return
	}
	c.w.parked = parked
	n, of := -1, &c.of(c.workspace).parked
	if parked {
		n = 1
		if c.now[c.workspace].Parked == 0 {
			of.since = c.e.Time
		}
	}
	if id := event.HandoffID(c.id, c.w.last); parked && c.w.last > 0 {
		of.add(id, c.e.Time)
	} else {
		of.remove(id)
	}
	c.set.Add(DeadLetters, float64(n), c.label)
	c.change(c.e.Position, c.workspace, Open{Parked: n})
}

// over ends the task.
func (c *count) over(state event.State) {
	c.end(event.Withdrawn)
	c.park(false)
	c.set.Observe(TaskHops, float64(c.w.hops), c.label)
	at := c.of(c.workspace).at(c.e.Time)
	at.tasks++
	at.hops += float64(c.w.hops)
	at.routes.add(party{sender: c.w.requester}, account{wrong: float64(max(c.w.hops-1, 0))})
	c.set.Add(TasksEnded, 1, c.label, string(state))
	c.set.Add(TasksOpen, -1, c.label)
	c.change(c.e.Position, c.workspace, Open{Tasks: -1})
	delete(c.open, c.e.Stream)
	c.w = nil
}
