package app

import (
	"cmp"
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/envelope"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/roster"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/sealing"
)

// SendInput hands a task off.
type SendInput struct {
	Task        string           `json:"task,omitempty" doc:"Id of the task."`
	Epoch       uint64           `json:"epoch,omitempty" doc:"The task's epoch as you know it; an old one is refused."`
	To          []string         `json:"to,omitempty" doc:"Agents, in order of preference; auto alone: where the policy says, or nowhere; human:DESK asks the people of a desk to take it over. Leave out to follow the task's route."`
	Capability  string           `json:"capability,omitempty" doc:"What the receiver must be able to do, instead of, or beside, a name."`
	Channel     string           `json:"channel,omitempty" doc:"Publish to whoever subscribes to this channel now, instead of naming receivers: by broadcast."`
	Kind        fact.Kind        `json:"kind,omitempty" enum:"warm,cold,supervised,broadcast,delegation" doc:"warm if left out; with a channel, broadcast."`
	FanOut      bool             `json:"fan_out,omitempty" doc:"With broadcast: every receiver gets a copy, as a child task. Otherwise the first to accept wins."`
	FanIn       fact.FanIn       `json:"fan_in,omitzero" doc:"When the sender of a fan-out or delegation resumes; all if left out."`
	Reason      fact.Reason      `json:"reason,omitempty" enum:"timeout,error,capability_mismatch,user_request,escalation,specialization,recovery,load_shedding,supervision" doc:"user_request if left out."`
	Detail      string           `json:"detail,omitempty" doc:"The reason in words."`
	Content     Content          `json:"content,omitzero"`
	Confirm     fact.ConfirmMode `json:"confirm,omitempty" enum:"auto,explicit" doc:"explicit: you let go with a call of your own after the receiver has accepted."`
	Timeouts    fact.Timeouts    `json:"timeouts,omitzero"`
	Retries     *int             `json:"retries,omitempty" minimum:"0" maximum:"20" doc:"Offers to a receiver after the first that went unanswered; 3 if left out."`
	ReturnHome  bool             `json:"return_home,omitempty" doc:"When nobody is left to try: back to you, not to the dead letters."`
	Approver    string           `json:"approver,omitempty" doc:"Of a supervised handoff: an agent. Left out: any operator."`
	Permissions []string         `json:"permissions,omitempty" doc:"A part of the task's permissions. Left out: all of them."`
	Budget      fact.Budget      `json:"budget,omitzero" doc:"Of each child of a fan-out or delegation; an equal part of what is left if left out."`
	Expected    fact.Expected    `json:"expected,omitzero" doc:"Of the children's results."`
	Pack        fact.Pack        `json:"pack,omitzero" doc:"How what is handed over is packed for each receiver. Left out: up to half of its context window, if that is known, by priority."`

	// Asked is the principal whose handoff is asked for again; empty: the caller's own. Nobody can say so from outside.
	Asked string `json:"-"`

	// No door sets what follows: it is what the policy decides.
	Up       roster.Chain   `json:"-"` // what of a chain is above the task, instead of receivers
	Decision *fact.Decision `json:"-"` // that the handoff follows from
	Auto     *Automatic     `json:"-"` // what the call makes of a handoff to auto; nil: it can make none
}

// Send asks to hand a task to others: the first message of the handshake. It returns at once; the inbox, the task
// and the event stream say what comes of it.
func (a *App) Send(ctx context.Context, c Caller, in SendInput) (docket.Receipt, error) {
	return a.deciding(ctx, c, "send", in.Task, in, func(auto *Automatic, t custody.Task, now time.Time) ([]fact.Event, error) {
		send := in
		send.Auto = auto
		return a.decideSend(ctx, c, send, t, now)
	})
}

func (a *App) decideSend(ctx context.Context, c Caller, in SendInput, t custody.Task, now time.Time) ([]fact.Event, error) {
	if err := in.Content.Check(); err != nil {
		return nil, err
	}
	return a.decideChecked(ctx, c, in, t, now)
}

// decideChecked is decideSend with content that has been checked.
func (a *App) decideChecked(ctx context.Context, c Caller, in SendInput, t custody.Task, now time.Time) ([]fact.Event, error) {
	if in.auto() {
		return a.decideAuto(ctx, c, in, t, now)
	}
	if in.Kind == "" {
		in.Kind = fact.Warm
		if in.Channel != "" {
			in.Kind = fact.Broadcast
		}
	}
	if in.Reason == "" {
		in.Reason = fact.ReasonUserRequest
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if err := a.checkExpected(in.Expected); err != nil { // the children's envelopes carry it
		return nil, err
	}
	routed := len(in.To) == 0 && in.Capability == "" && in.Channel == "" && in.Up.Name == ""
	if routed {
		if len(t.Route) == 0 {
			return nil, refusal.New(refusal.Invalid, "name an agent, a capability or a channel", "task %s has no route to follow", t.ID)
		}
		in.To = t.Route[:1]
	}
	var desks []fact.Candidate
	in.To, desks = people(in.To)
	if err := a.checkDesks(ctx, c.Workspace, in.Kind, desks); err != nil {
		return nil, err
	}
	req := routing.Request{Agents: in.To, Spread: t.ID, StandIns: a.InMemory(c.Workspace).StandIns}
	if in.Capability != "" {
		req.Needs, req.Likes = []string{in.Capability}, routing.Likes(t.Tags)
	}
	if t.Owner != "" {
		req.Exclude = []string{t.Owner}
	}
	req.Own = in.handoffs(t)
	p, err := a.routeOrDesk(ctx, c, in, req, desks, now)
	if behind := in.first(); err == nil && behind != (fact.Receiver{}) && len(desks) == 0 && !in.FanOut && in.Kind != fact.Delegation {
		p, err = a.Behind(ctx, c.Workspace, p, behind, a.InMemory(c.Workspace), t, req, now)
	}
	if err != nil {
		return nil, err
	}
	if p.Refused != nil {
		if !c.IsSystem() {
			return nil, p.Refused
		}
		p.Candidates = named(in.To) // nobody waits for the refusal: the offer waits for a receiver that comes back
	}
	sealed, doc, err := a.sealer.Compose(ctx, c, t, header(t, targets(p.Candidates), in), in.Content, now)
	if err != nil {
		return nil, err
	}
	if err := sealing.CheckPins(doc, in.Pack); err != nil {
		return nil, err
	}
	fit, passed, err := a.sealer.Fitting(ctx, c.Workspace, sealed.Digest, doc, p.Candidates, in.Pack)
	if err != nil {
		return nil, err
	}
	p.Candidates, p.Passed = fit, append(p.Passed, passed...)
	if n := len(targets(p.Candidates)); in.FanOut && n*len(sealed.Bytes) > maxFanOut {
		return nil, refusal.New(refusal.TooLarge, "put large data elsewhere and refer to it, or name fewer receivers",
			"%d copies of an envelope of %d bytes are more than %d bytes", n, len(sealed.Bytes), maxFanOut)
	}
	if in.Kind == fact.Delegation || in.FanOut {
		return a.spawning(ctx, c, in, t, p, sealed, now)
	}
	cmd := in.request(c, p, sealed)
	cmd.RouteStep = routed
	return a.Offering(ctx, c.Workspace, t, now, handoff.Hints{Jitter: a.Jitter()}, func(hints handoff.Hints) handoff.Command {
		cmd.Hints = hints
		return cmd
	})
}

// first is whom a handoff is meant for before all others: an agent by name, or whoever has a capability.
func (in SendInput) first() fact.Receiver {
	if len(in.To) > 0 {
		return fact.Receiver{Agent: in.To[0]}
	}
	return fact.Receiver{Capability: in.Capability}
}

// maxFanOut is the most bytes of envelopes that one fan-out makes.
const maxFanOut = 16 << 20

func isOffer(e fact.Event) bool {
	_, is := e.(fact.OfferMade)
	return is
}

func named(agents []string) []fact.Candidate {
	list := make([]fact.Candidate, len(agents))
	for i, name := range agents {
		list[i] = fact.Candidate{Agent: name, Tier: fact.TierTarget}
	}
	return list
}

func (in SendInput) check() error {
	if err := sealing.CheckPack(in.Pack); err != nil {
		return err
	}
	switch {
	case in.FanOut && in.Kind != fact.Broadcast:
		return refusal.New(refusal.Invalid, "use the kind broadcast, or leave fan_out away", "a %s handoff does not fan out", in.Kind)
	case in.Approver != "" && in.Kind != fact.Supervised:
		return refusal.New(refusal.Invalid, "use the kind supervised, or leave the approver away", "a %s handoff has no approver", in.Kind)
	case in.FanIn.Mode != "" && !in.FanOut && in.Kind != fact.Delegation:
		return refusal.New(refusal.Invalid, "use it with a fan-out or a delegation", "a %s handoff has no fan-in", in.Kind)
	}
	of := in.checkChildless
	if in.FanOut || in.Kind == fact.Delegation {
		of = in.checkParent
	}
	if err := of(); err != nil {
		return err
	}
	return in.checkChannel()
}

// checkChildless refuses what is said of children where there will be none.
func (in SendInput) checkChildless() error {
	const hint = "use it with a fan-out or a delegation, or say it when the task is created"
	switch {
	case !in.Expected.Empty():
		return refusal.New(refusal.Invalid, hint, "a %s handoff cannot change what is expected of the result", in.Kind)
	case in.Budget != fact.Budget{}:
		return refusal.New(refusal.Invalid, hint, "a %s handoff cannot change the task's budget", in.Kind)
	}
	return in.checkWait()
}

// checkWait refuses a wait where nobody is waited for.
func (in SendInput) checkWait() error {
	if in.Timeouts.Wait == 0 {
		return nil
	}
	return refusal.New(refusal.Invalid, "leave the wait timeout out, or wait for children: with a delegation, or a fan-out whose fan-in is not none",
		"this %s handoff waits for no children, so there is nothing to limit", in.Kind).With("field", "timeouts.wait")
}

// checkParent refuses what is said of a task that moves where it will not: its children do, each by itself.
func (in SendInput) checkParent() error {
	switch {
	case in.Confirm == fact.ConfirmExplicit:
		return refusal.New(refusal.Invalid, "leave the confirm out: you keep your task", "a handoff that makes children has nothing to confirm")
	case in.ReturnHome:
		return refusal.New(refusal.Invalid, "leave it out; say with fan_in and the wait timeout when you go on without a child",
			"a child that nobody takes does not return to you: it goes to the dead letters")
	case in.FanIn.Mode == fact.FanInNone:
		return in.checkWait()
	}
	return nil
}

func (in SendInput) request(c Caller, p roster.Plan, sealed fact.Sealed) handoff.Request {
	return handoff.Request{
		By: c.By(), Asked: in.Asked, Epoch: in.Epoch, Kind: in.Kind, Claim: in.Kind == fact.Broadcast, Reason: in.Reason, Detail: in.Detail,
		Capability: in.Capability, Chain: p.Chain, Channel: in.Channel, Candidates: p.Candidates, Passed: p.Passed, Confirm: in.Confirm, Timeouts: in.Timeouts,
		Retries: in.Retries, ReturnHome: in.ReturnHome, Approver: in.Approver, Permissions: in.Permissions,
		NewWork: in.Content.HasWork(), Envelope: sealed, Pack: in.Pack, Decision: in.Decision,
	}
}

func (in SendInput) spawn(c Caller, t custody.Task, p roster.Plan, sealed fact.Sealed) handoff.Spawn {
	to := targets(p.Candidates)
	if in.Kind == fact.Delegation && len(to) > 1 {
		to = to[:1]
	}
	s := handoff.Spawn{
		By: c.By(), Epoch: in.Epoch, Kind: in.Kind, FanIn: in.FanIn, Timeouts: in.Timeouts, Retries: in.Retries,
		Reason: in.Reason, Detail: in.Detail, Permissions: in.Permissions, Expected: in.Expected,
		NewWork: in.Content.HasWork(), Passed: p.Passed, Channel: in.Channel, Envelope: sealed, Pack: in.Pack, Decision: in.Decision,
	}
	if s.FanIn.Mode == "" {
		s.FanIn.Mode = fact.FanInAll
	}
	intent := in.Content.Ask
	if intent == "" {
		intent = t.Intent
	}
	for i, name := range to {
		n := t.NextChild() + i
		s.Children = append(s.Children, fact.NewChild{Task: fact.ChildID(t.ID, n), Index: n, To: name, Intent: intent, Budget: in.Budget})
	}
	return s
}

// handoffs are the ids that the offers of a send may have.
func (in SendInput) handoffs(t custody.Task) []string {
	if in.Kind != fact.Delegation && !in.FanOut {
		return []string{nextHandoffID(t)}
	}
	var ids []string
	for i := range cmp.Or(len(in.To), routing.MaxListed) {
		ids = append(ids, fact.HandoffID(fact.ChildID(t.ID, t.NextChild()+i), 1))
	}
	return ids
}

// nextHandoffID is the id that a task's next handoff will have.
func nextHandoffID(t custody.Task) string { return fact.HandoffID(t.ID, t.NextHandoff()) }

// targets is whom a handoff is meant for, fallbacks left out.
func targets(candidates []fact.Candidate) []string {
	var to []string
	for _, c := range candidates {
		if c.Tier == fact.TierTarget && !c.IsDesk() {
			to = append(to, c.Agent)
		}
	}
	return to
}

// header is the envelope's header for the task's next handoff; without receivers, for the task alone.
func header(t custody.Task, to []string, in SendInput) envelope.Header {
	h := envelope.Header{
		From: t.Source(), To: to, Reason: in.Reason, Detail: in.Detail, Kind: in.Kind,
		Permissions: in.Permissions,
	}
	if in.Kind != "" {
		h.HandoffID, h.TimeoutSeconds = nextHandoffID(t), sealing.Seconds(in.Timeouts.Over(t.Times).Ack)
	}
	return h
}

// EscalateInput hands a task upwards.
type EscalateInput struct {
	Task    string  `json:"task,omitempty"`
	Epoch   uint64  `json:"epoch,omitempty"`
	To      string  `json:"to,omitempty" doc:"An agent, or human:DESK. Left out: the next level of the escalation chain."`
	Detail  string  `json:"detail,omitempty" doc:"Why."`
	Content Content `json:"content,omitzero"`
}

// Escalate hands a task to a named agent or desk, or one level up the escalation chain in which it stands or that its owner
// has, because it is beyond its holder. A chain ends with people; each task has its own place in it.
func (a *App) Escalate(ctx context.Context, c Caller, in EscalateInput) (docket.Receipt, error) {
	send := SendInput{Task: in.Task, Epoch: in.Epoch, Detail: in.Detail, Content: in.Content, Reason: fact.ReasonEscalation}
	if in.To != "" {
		send.To = []string{in.To}
		return a.Send(ctx, c, send)
	}
	return a.tasks.ChangeWith(ctx, c, "escalate", in.Task, in, func(t custody.Task, now time.Time) ([]fact.Event, error) {
		book, err := a.Policy(ctx, c.Workspace)
		if err == nil {
			send.Up, err = a.Above(ctx, c.Workspace, book, t)
		}
		if err != nil {
			return nil, err
		}
		return a.decideSend(ctx, c, send, t, now)
	})
}
