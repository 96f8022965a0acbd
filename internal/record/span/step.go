package span

import (
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// stepping makes the spans of one entry of a task.
type stepping struct {
	*work
	e     *ledger.Entry
	at    mark
	call  Context // of the call that made the entry, if it has said so; zero: it has not
	spans []Span
}

// sealed notes the trace context of an envelope. An envelope that nobody gave one has that of the one before.
func (s *stepping) sealed(traceparent string) {
	if !s.begun { // the first envelope
		s.trace, _ = Parse(traceparent)
		s.derived = false
		s.begun = true
	}
	if traceparent != "" && traceparent != s.last {
		s.call, _ = Parse(traceparent)
	}
	s.last = traceparent
}

func text(of *Attribute, v string) Value    { return Value{Of: of, Text: v} }
func number(of *Attribute, v float64) Value { return Value{Of: of, Number: v} }

func truth(of *Attribute, v bool) Value {
	if v {
		return number(of, 1)
	}
	return number(of, 0)
}

// why is the value of [ErrorType], which no span of a success has.
func (s *Span) why(failed string) {
	if failed != "" {
		s.Failed = failed
		s.Values = append(s.Values, text(ErrorType, failed))
	}
}

// span adds a span from a mark to now. Values of no text are left out.
func (s *stepping) span(step *Step, id, parent ID, from mark, values ...Value) *Span {
	from = from.or(s.at)
	if s.trace.Trace == (TraceID{}) {
		s.trace, s.derived = Context{Trace: derived(s.id), Sampled: true}, true
	}
	n := len(s.spans)
	if n == cap(s.spans) {
		s.spans = append(s.spans, Span{})
	}
	s.spans = s.spans[:n+1]
	x := &s.spans[n]
	*x = Span{
		Step: step, Name: step.Name, Trace: s.trace.Trace, ID: id, Parent: parent, Sampled: s.trace.Sampled, Derived: s.derived, Start: from.time, End: s.at.time,
		Values: append(x.Values[:0], text(Workspace, s.workspace), text(TaskAttr, s.id), number(Since, float64(from.position)), number(Until, float64(s.at.position))),
	}
	x.add(values...)
	return x
}

// add adds values. Those of no text are left out.
func (s *Span) add(values ...Value) {
	for i := range values {
		if v := &values[i]; v.Text != "" || v.Of.Type != Text {
			s.Values = append(s.Values, *v)
		}
	}
}

// one returns the id of a step of this entry. An entry has one step of a name and number.
func (s *stepping) one(step *Step) ID {
	return idOf(step.Name, s.id, uint64(s.at.position))
}

func (s *stepping) actor() Value { return text(Actor, s.e.Actor.Principal) }

// holder is the span of the ownership, or of the task.
func (s *stepping) holder() ID {
	if s.owner.agent != "" {
		return s.owner.span
	}
	return taskSpan(s.id)
}

// cause is the parent of what a call caused, and the link to the call if it is in another trace.
func (s *stepping) cause() (ID, []Context) {
	switch {
	case s.call.Trace == (TraceID{}) || s.at == s.created: // the span of the task is the child of the call that created it
		return s.holder(), nil
	case s.call.Trace == s.trace.Trace:
		return s.call.Span, nil
	}
	return s.holder(), []Context{s.call}
}

func (s *stepping) event(ev event.Event) {
	switch e := ev.(type) {
	case event.Created:
		s.created, s.parent, s.conversation = s.at, e.Parent.Task, e.Conversation
	case event.Started:
		s.owned(e.Agent, taskSpan(s.id), s.epoch+1)
	case event.LeaseLost:
		s.span(LostStep, s.one(LostStep), s.holder(), mark{}, text(AgentName, e.Agent)).why("lease_lost")
	case event.OwnerStuck:
		s.span(StuckStep, s.one(StuckStep), s.holder(), mark{}, text(AgentName, e.Agent), s.actor()).why("stuck")
	case event.ParkedTask:
		s.landed(event.DeadLettered)
		s.parked = s.at
		s.span(ParkStep, s.one(ParkStep), s.holder(), mark{}, text(ParkCause, string(e.Cause)), s.actor()).why("parked")
	case event.Replayed:
		s.span(ReplayStep, s.one(ReplayStep), s.holder(), s.parked, s.actor())
		s.parked = mark{}
	case event.Spawned:
		s.spawned(e)
	case event.ChildEnded:
		s.childEnded(e)
	case event.TicketOpened:
		s.ticket = ticket{number: e.Ticket, kind: e.Kind, opened: s.at}
		if e.Handoff != 0 {
			s.landed(event.AtDesk)
		}
	case event.TicketClosed:
		s.closed(e.Outcome)
	case event.Joined:
		if s.epoch == 0 { // the task was its children's alone
			s.end(event.Completed)
		}
	case event.Finished:
		s.end(event.Completed)
	case event.GaveUp:
		s.end(event.Failed)
	case event.Called, event.Discarded:
		s.end(event.Cancelled)
	case event.HandoffRequested:
		s.landed(event.Withdrawn) // none is in progress, by the rules
		s.requested(e)
	default:
		if s.flight != nil {
			s.offer(ev)
		}
	}
}

// closed ends the ticket that is open, if there is one.
func (s *stepping) closed(outcome event.TicketOutcome) {
	k := s.ticket
	if k.opened.zero() {
		return
	}
	s.span(TicketStep, idOf("ticket", s.id, uint64(k.number)), s.holder(), k.opened, //nolint:gosec // counts from 1
		text(TicketKind, string(k.kind)), text(TicketEnd, string(outcome)), s.actor())
	s.ticket = ticket{}
}

func (s *stepping) requested(e event.HandoffRequested) {
	f := &flight{n: e.Handoff, id: event.HandoffID(s.id, e.Handoff), span: handoffSpan(s.id, e.Handoff), kind: e.Kind, reason: e.Reason, claim: e.Claim, recovery: e.Recovery, from: e.From, at: s.at}
	f.parent, f.links = s.cause()
	s.flight = f
	x := s.span(RequestStep, s.one(RequestStep), f.span, mark{})
	x.terms(f)
	x.Links = f.links
}

// terms adds the terms of a handoff.
func (s *Span) terms(f *flight) {
	s.add(text(HandoffAttr, f.id), text(Kind, string(f.kind)), text(Reason, string(f.reason)), text(From, f.from))
	if f.claim {
		s.add(truth(Claim, true))
	}
	if f.recovery {
		s.add(truth(Recovery, true))
	}
}

func (s *stepping) handoff() Value { return text(HandoffAttr, s.flight.id) }

// in adds a span of a step of the handoff in progress.
func (s *stepping) in(step *Step, from mark, values ...Value) *Span {
	x := s.span(step, s.one(step), s.flight.span, from, s.handoff())
	x.add(values...)
	return x
}

// offer folds an event of the handoff in progress.
func (s *stepping) offer(ev event.Event) {
	f := s.flight
	offer := number(Offer, float64(f.offer))
	switch e := ev.(type) {
	case event.ApprovalAsked:
		f.asked = s.at
	case event.Approved:
		s.in(ApprovalStep, f.asked, truth(Approved, true), s.actor())
	case event.Denied:
		s.in(ApprovalStep, f.asked, truth(Approved, false), s.actor())
	case event.OfferMade:
		s.offered(e)
	case event.Seen:
		s.in(SeenStep, f.offered, offer, text(To, e.Agent), s.actor())
		f.seen, f.to = s.at, strings.Clone(e.Agent)
	case event.Acknowledged:
		s.in(AcceptStep, f.seen.or(f.offered), offer, text(To, e.Agent), s.actor())
		f.accepted, f.to = s.at, strings.Clone(e.Agent)
	case event.RejectedOffer:
		s.in(RejectStep, f.seen.or(f.offered), offer, text(To, e.Agent), text(Rejection, string(e.Why)), s.actor())
	case event.OfferExpired:
		s.in(ExpireStep, f.offered, offer, text(To, f.to), s.actor()).why("expired")
	case event.Unanswered:
		s.in(ExpireStep, f.offered, offer, text(To, e.Agent), s.actor()).why("unanswered")
	case event.OfferShed:
		s.in(ShedStep, f.offered, offer, text(To, e.Agent), s.actor())
	case event.RetryScheduled:
		f.retrying = s.at
		f.retries++
	case event.Rendered:
		s.packed(e)
	case event.Confirmed:
		s.in(ConfirmStep, f.accepted, truth(Automatic, e.Auto), s.actor())
		f.confirmed = s.at
	case event.Moved:
		s.in(CompleteStep, f.confirmed.or(f.accepted), text(To, e.To), s.actor())
		f.to = strings.Clone(e.To)
		s.closed(event.TicketResolved)
		s.released()
		s.owned(f.to, f.span, e.Epoch)
		s.landed(event.Transferred)
	case event.Returned:
		x := s.in(ReturnStep, mark{}, text(Outcome, string(e.Outcome)), s.actor())
		x.why(failing(e.Outcome))
		s.landed(e.Outcome)
	}
}

// packed notes how the envelope of the handoff in progress was packed.
func (s *stepping) packed(e event.Rendered) {
	if f := s.flight; f != nil && e.Handoff == f.n {
		f.tokens, f.completeness, f.packed = e.Tokens, e.Completeness, true
	}
}

func (s *stepping) offered(e event.OfferMade) {
	f := s.flight
	f.offer = e.Offer
	if len(e.To) == 1 {
		f.to = strings.Clone(e.To[0])
	}
	if !f.retrying.zero() {
		s.in(RetryStep, f.retrying, number(Offer, float64(e.Offer)), text(To, f.to))
	}
	f.offered, f.seen, f.retrying = s.at, mark{}, mark{}
}

// failing is why a handoff with an outcome has failed; "" if it has not.
func failing(o event.Stage) string {
	switch o {
	case event.Rejected, event.Expired, event.Undeliverable, event.DeadLettered:
		return string(o)
	default:
		return ""
	}
}

// landed ends the handoff in progress, if there is one.
func (s *stepping) landed(outcome event.Stage) {
	f := s.flight
	if f == nil {
		return
	}
	x := s.span(HandoffStep, f.span, f.parent, f.at)
	x.terms(f)
	x.add(text(To, f.to), text(Outcome, string(outcome)))
	if f.retries > 0 {
		x.add(number(Retries, float64(f.retries)))
	}
	if f.packed {
		x.add(number(Tokens, float64(f.tokens)), number(Completeness, f.completeness))
	}
	x.why(failing(outcome))
	x.Links = f.links
	s.flight = nil
}

// owned notes a new owner.
func (s *stepping) owned(agent string, by ID, epoch uint64) {
	s.epoch = epoch
	s.owner = owner{agent: strings.Clone(agent), span: ownerSpan(s.id, epoch), parent: by, since: s.at}
}

// released ends the ownership, if there is one.
func (s *stepping) released() {
	if s.owner.agent == "" {
		return
	}
	o := s.owner
	x := s.span(OwnerStep, o.span, o.parent, o.since, text(Operation, InvokeAgent), text(AgentName, o.agent), text(Conversation, s.conversation))
	x.Name += " " + o.agent
	s.owner = owner{}
}

func (s *stepping) spawned(e event.Spawned) {
	if s.children == nil {
		s.children = map[string]mark{}
	}
	for i := range e.Children {
		s.children[strings.Clone(e.Children[i].Task)] = s.at
	}
}

// childEnded ends the delegation of a child, unless it is only in the dead letters.
func (s *stepping) childEnded(e event.ChildEnded) {
	from, ok := s.children[e.Child]
	if !ok || !e.State.Final() {
		return
	}
	delete(s.children, e.Child)
	x := s.span(ChildStep, childSpan(e.Child), s.holder(), from, text(ChildTask, e.Child), text(TaskState, string(e.State)))
	if e.State != event.Completed {
		x.why(string(e.State))
	}
}

// end ends the task.
func (s *stepping) end(state event.State) {
	s.landed(event.Withdrawn)
	s.closed(event.TicketWithdrawn)
	s.released()
	parent := s.trace.Span
	if s.parent != "" {
		parent = childSpan(s.id)
	}
	x := s.span(TaskStep, taskSpan(s.id), parent, s.created, text(ParentTask, s.parent), text(TaskState, string(state)), text(Conversation, s.conversation))
	if state == event.Failed {
		x.why(string(state))
	}
	s.over = true
}
