package handoff

import (
	"cmp"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Inquire asks people a question, as the owner. The task waits, no lease runs, and the owner resumes with the answer or
// with the news that there is none.
type Inquire struct {
	By       identity.Principal
	Epoch    uint64
	Desk     string // empty: the operators
	To       string // one agent or person by name, whom alone it is for until it goes on; empty: whoever serves the desk
	Then     string // the desk that it goes on to; empty: the operators
	Question string
	Options  []string       // if not empty, the answer is one of them
	Within   event.Duration // how long each desk has; 0: as the task has it
}

func (c Inquire) decide(t task.Task, now time.Time) ([]event.Event, error) {
	events, err := works(t, c.By, c.Epoch, now)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.To != "" && c.To == c.By.Agent() {
		return nil, refusal.New(refusal.Invalid, "ask somebody else, or leave it to a desk", "%s asks itself", c.To)
	}
	if k := t.OpenTicket(); k != nil {
		return nil, refusal.New(refusal.Conflict, "ask them directly, or release the ticket to its desk with what you need to know",
			"you hold task %s by ticket %s: one is open at a time", t.ID, event.TicketID(t.ID, k.N))
	}
	d := turn{t: t}
	d.do(events...)
	e := opening(d.t, c.Desk, c.Then, c.Within.Or(time.Duration(t.Times.Answer)), now)
	e.Kind, e.To, e.Question, e.Options = event.TicketQuestion, c.To, c.Question, c.Options
	if e.To != "" && e.Then == "" { // who is asked alone is not all who serve the desk
		e.Then = e.Desk
	}
	d.do(e)
	return d.events, nil
}

func (c Inquire) check() error {
	return firstError(event.CheckQuestion(c.Question, c.Options), event.CheckOptional("a desk's name", c.Desk),
		event.CheckOptional("an agent's name", c.To), event.CheckOptional("a desk's name", c.Then), c.Within.Check("the time to answer"))
}

// opening is a ticket of a desk that is opened now.
func opening(t task.Task, desk, then string, span event.Duration, now time.Time) event.TicketOpened {
	span = event.Timeouts{Answer: span}.People()
	e := event.TicketOpened{Ticket: 1, Desk: cmp.Or(desk, event.DeskOperators), Then: cmp.Or(then, event.DeskOperators), By: t.Source(), Span: span, Due: span.After(now), At: now}
	if t.Ticket != nil {
		e.Ticket = t.Ticket.N + 1
	}
	if e.Then == e.Desk {
		e.Then = ""
	}
	return e
}

// Claim takes a ticket on. A question or an approval is then kept for its claimant for a quarter of the desk's time; the task
// of a takeover becomes theirs.
type Claim struct {
	By       identity.Principal
	Serves   []string // the desks of a person
	Ticket   int
	Agent    string       // of a takeover: under which name the person has the task; empty: under none
	Envelope event.Sealed // of a takeover: what goes with the task
}

func (c Claim) decide(t task.Task, now time.Time) ([]event.Event, error) {
	k, err := served(t, c.By, c.Serves, c.Ticket, now)
	if err != nil {
		return nil, err
	}
	mine := k.State == event.TicketTaken && sameHands(c.By, k.ClaimedBy)
	if k.Kind != event.TicketTakeover {
		if mine && now.Before(k.Kept) {
			return nil, nil
		}
		ends := now.Add(time.Duration(k.Span) / 4)
		return []event.Event{event.TicketClaimed{Ticket: k.N, By: c.By.Short(), Ends: ends, At: now}}, nil
	}
	switch {
	case mine || k.State == event.TicketTaken && k.ClaimedBy == c.Agent:
		return nil, nil
	case k.State == event.TicketTaken:
		return nil, refusal.New(refusal.Conflict, "ask them, or an operator, to release it", "%s has taken task %s over", k.ClaimedBy, t.ID)
	case c.Agent == "":
		return nil, refusal.New(refusal.NotPermitted, "have an agent of kind human in your name: trapeze agent add NAME --kind human",
			"a task is taken over by a person who is registered as an agent")
	}
	return c.taken(t, k, now)
}

// taken makes the claimant the owner: all messages of a transfer in one decision. Nobody counts it against a limit, except
// how often one person may have the task.
func (c Claim) taken(t task.Task, k *task.Ticket, now time.Time) ([]event.Event, error) {
	if visits, _ := t.Visits(c.Agent); visits >= t.Limits.Visits {
		return nil, refusal.New(refusal.Limit, "leave it to somebody else, or deny it", "%s has had task %s %d times", c.Agent, t.ID, visits)
	}
	came := t.Handoff // to the desk; another one if somebody has had it since
	if came == nil || came.N != k.Handoff {
		came = &task.Handoff{Times: t.Times}
	}
	approved := came.Kind == event.Supervised // what was approved is what moves
	if approved {
		c.Envelope = event.Sealed{}
	}
	if c.Envelope.Digest == "" && t.Envelope == "" {
		return nil, refusal.New(refusal.Invalid, "seal an envelope", "a takeover needs an envelope")
	}
	if err := follows(t, c.Envelope); err != nil {
		return nil, err
	}
	d := turn{t: t}
	due := k.Span.After(now)
	d.do(event.TicketClaimed{Ticket: k.N, By: c.Agent, Due: due, At: now})
	if c.Envelope.Digest != "" {
		d.do(c.Envelope)
	}
	e := event.HandoffRequested{
		Handoff: d.t.NextHandoff(), Kind: event.Warm, From: t.Source(), Reason: event.ReasonEscalation, Ticket: k.N,
		Detail: "taken from the desk " + k.Desk, Candidates: []event.Candidate{{Agent: c.Agent, Tier: event.TierTarget, Human: true}}, Confirm: event.ConfirmAuto,
		Timeouts: came.Times, Envelope: d.t.Envelope, Permissions: came.Permits, RouteStep: came.RouteStep, Pack: came.Pack,
		By: c.By.String(), Before: t.Standing(), At: now,
	}
	if approved {
		e.Envelope = came.Envelope
	}
	d.do(e)
	h := d.t.Handoff
	d.do(event.OfferMade{Handoff: h.N, Offer: 1, To: []string{c.Agent}, Tier: event.TierTarget, Ends: h.Times.Offer.After(now)},
		event.Acknowledged{Handoff: h.N, Offer: 1, Agent: c.Agent}, event.Confirmed{Handoff: h.N, By: h.From, Auto: true})
	end := moved(d.t, now)
	end.Hop, end.Lease = false, due
	d.do(end)
	return d.events, nil
}

// Release gives a claimed ticket back to its desk, as its claimant or an operator. The task of a takeover waits again, with
// what was done of it.
type Release struct {
	By     identity.Principal
	Epoch  uint64 // of a takeover: the task's, from its owner
	Ticket int
	Detail string
}

func (c Release) decide(t task.Task, now time.Time) ([]event.Event, error) {
	k, err := openTicket(t, c.Ticket)
	if err != nil {
		return nil, err
	}
	if err := event.CheckText("the detail", c.Detail, event.MaxText); err != nil {
		return nil, err
	}
	switch {
	case k.State != event.TicketTaken:
		return nil, refusal.New(refusal.Conflict, "nothing to do", "nobody has claimed ticket %s", event.TicketID(t.ID, k.N))
	case !sameHands(c.By, k.ClaimedBy) && !c.By.IsOperator():
		return nil, refusal.New(refusal.NotPermitted, "ask them, or an operator", "%s has claimed ticket %s", k.ClaimedBy, event.TicketID(t.ID, k.N))
	}
	e := event.TicketReleased{Ticket: k.N, By: c.By.Short(), Detail: c.Detail, Due: k.Due}
	if k.Kind == event.TicketTakeover {
		if t.State != event.Executing {
			return nil, busy(t)
		}
		if c.Epoch != 0 || !c.By.IsOperator() {
			if err := current(t, c.Epoch); err != nil {
				return nil, err
			}
		}
		e.Due = k.Span.After(now)
	}
	return []event.Event{e}, nil
}

// Answer answers a question, for whoever serves its desk. The owner resumes.
type Answer struct {
	By     identity.Principal
	Serves []string
	Ticket int
	Answer string
	Detail string
}

func (c Answer) decide(t task.Task, now time.Time) ([]event.Event, error) {
	k, err := served(t, c.By, c.Serves, c.Ticket, now)
	if err != nil {
		return nil, err
	}
	switch k.Kind {
	case event.TicketQuestion:
	case event.TicketApproval:
		return nil, refusal.New(refusal.Invalid, "approve or deny it", "ticket %s asks for an approval", event.TicketID(t.ID, k.N))
	case event.TicketTakeover:
		return nil, refusal.New(refusal.Invalid, "claim or deny it", "ticket %s asks for somebody who takes the task over", event.TicketID(t.ID, k.N))
	}
	if err := firstError(event.CheckAnswer(c.Answer, k.Options), event.CheckText("the detail", c.Detail, event.MaxText)); err != nil {
		return nil, err
	}
	return []event.Event{closing(t, k, event.TicketClosed{Outcome: event.TicketAnswered, By: c.By.Short(), Answer: c.Answer, Detail: c.Detail}, now)}, nil
}

// Decline closes a question without an answer, or a takeover that nobody of the desk does. The task goes on with its owner,
// or, where nobody owns it, to the dead letters.
type Decline struct {
	By     identity.Principal
	Serves []string
	Ticket int
	Detail string
}

func (c Decline) decide(t task.Task, now time.Time) ([]event.Event, error) {
	k, err := served(t, c.By, c.Serves, c.Ticket, now)
	if err != nil {
		return nil, err
	}
	if k.Kind == event.TicketTakeover && k.State == event.TicketTaken {
		return nil, refusal.New(refusal.Conflict, "complete the task, hand it on, or release the ticket", "%s has taken task %s over", k.ClaimedBy, t.ID)
	}
	if k.Kind == event.TicketApproval {
		return Deny{By: c.By, Handoff: k.Handoff, Detail: c.Detail}.decide(t, now)
	}
	if err := event.CheckText("the detail", c.Detail, event.MaxText); err != nil {
		return nil, err
	}
	d := turn{t: t}
	d.do(closing(t, k, event.TicketClosed{Outcome: event.TicketDenied, By: c.By.Short(), Detail: c.Detail}, now))
	if d.t.Owner == "" {
		why := "denied by " + c.By.Short()
		if c.Detail != "" {
			why += ": " + c.Detail
		}
		d.do(park(event.ParkReturned, why, now))
	}
	return d.events, nil
}

// Recall takes a question or a takeover back from its desk, as the task's source or an operator: the task is as it was.
type Recall struct {
	By     identity.Principal
	Epoch  uint64
	Ticket int
	Detail string
}

func (c Recall) decide(t task.Task, now time.Time) ([]event.Event, error) {
	if err := standsBehind(t, c.By, c.Epoch); err != nil {
		return nil, err
	}
	k, err := openTicket(t, c.Ticket)
	if err != nil {
		return nil, err
	}
	if t.AtDesk() == nil {
		return nil, refusal.New(refusal.Conflict, "withdraw its handoff, or release the ticket", "task %s does not wait for ticket %s",
			t.ID, event.TicketID(t.ID, k.N))
	}
	if err := event.CheckText("the detail", c.Detail, event.MaxText); err != nil {
		return nil, err
	}
	return []event.Event{closing(t, k, event.TicketClosed{Outcome: event.TicketWithdrawn, By: c.By.Short(), Detail: c.Detail}, now)}, nil
}

// closing settles a ticket that the task waits for: its owner, if it has one, goes on.
func closing(t task.Task, k *task.Ticket, e event.TicketClosed, now time.Time) event.TicketClosed {
	e.Ticket, e.At = k.N, now
	if t.Owner != "" {
		e.Lease = t.LeaseFrom(now)
	}
	return e
}

// openTicket finds the ticket that is open.
func openTicket(t task.Task, n int) (*task.Ticket, error) {
	if err := live(t); err != nil {
		return nil, err
	}
	k := t.Ticket
	switch {
	case k == nil || n > k.N || n < 1:
		return nil, refusal.New(refusal.NotFound, "fetch the task to see its ticket", "task %s has no ticket %d", t.ID, n)
	case n < k.N:
		return nil, refusal.New(refusal.Expired, "nothing to do", "ticket %s is closed", event.TicketID(t.ID, n))
	case k.State == event.TicketOver:
		return nil, refusal.New(refusal.Expired, "nothing to do", "ticket %s is closed: %s", event.TicketID(t.ID, n), k.Outcome)
	}
	return k, nil
}

// served finds the open ticket for somebody who may see to it: an operator, the one who is asked by name, or whoever serves
// its desk; never who asks, and nobody while it is kept for somebody else.
func served(t task.Task, by identity.Principal, serves []string, n int, now time.Time) (*task.Ticket, error) {
	k, err := openTicket(t, n)
	if err != nil {
		return nil, err
	}
	if k.Kind == event.TicketApproval {
		_, err := supervisedBy(t, by, k.Handoff, now)
		return k, err
	}
	id := event.TicketID(t.ID, n)
	asked := by.Agent() != "" && by.Agent() == k.To
	switch {
	case sameHands(by, k.By) && k.Kind != event.TicketTakeover:
		return nil, refusal.New(refusal.NotPermitted, "wait for the answer, or take the question back", "nobody answers what they asked themselves")
	case !by.IsOperator() && !asked && (k.To != "" || !slices.Contains(serves, k.Desk)):
		return nil, refusal.New(refusal.NotPermitted, "leave it to whoever serves the desk "+k.Desk, "%s does not serve ticket %s", by.Short(), id)
	}
	return k, kept(t, by, k, now)
}

// kept refuses while a ticket is kept for somebody else.
func kept(t task.Task, by identity.Principal, k *task.Ticket, now time.Time) error {
	if k == nil || k.State != event.TicketTaken || sameHands(by, k.ClaimedBy) || !now.Before(k.Kept) {
		return nil
	}
	return refusal.New(refusal.Conflict, "leave it to them, or come back after that", "%s sees to ticket %s until %s", k.ClaimedBy, event.TicketID(t.ID, k.N),
		k.Kept.Format(time.RFC3339))
}

// sameHands reports whether a name of the record is the caller's, in whatever role.
func sameHands(by identity.Principal, name string) bool {
	return by.Short() == name || person(by.String()) == person(name)
}

// tickTicket reminds people of a ticket, or ends their time: it goes on to the next desk, or the task goes on without them.
func (d *turn) tickTicket(k *task.Ticket, ends, now time.Time) {
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
		d.do(home(d.t, event.Expired, "nobody approved in time", now)...)
	case k.Kind == event.TicketQuestion:
		d.do(closing(d.t, k, event.TicketClosed{Outcome: event.TicketUnanswered, Detail: "nobody answered in time"}, now))
	default:
		why := "nobody of the desk " + k.Desk + " took it in time"
		if k.ClaimedBy != "" {
			why = k.ClaimedBy + " took it from the desk " + k.Desk + " and did not end it in time"
		}
		d.do(park(event.ParkNobodyClaimed, why, now))
	}
}

// toDesk ends the handoff at a desk: people are asked to take the task over.
func (d *turn) toDesk(desk int, passed []event.Passed, now time.Time) {
	h := d.t.Handoff
	c := h.Candidates[desk]
	then := ""
	for _, next := range h.Candidates[desk+1:] {
		if next.IsDesk() && then == "" {
			then = next.Desk
		}
	}
	e := opening(d.t, c.Desk, then, h.Times.Answer, now)
	e.Kind, e.Handoff, e.Passed = event.TicketTakeover, h.N, passed
	e.Question = refusal.Clip(cmp.Or(h.Detail, "take the task over"), event.MaxQuestion)
	e.After = d.t.Standing()
	e.After.State = event.Waiting
	d.do(e)
}
