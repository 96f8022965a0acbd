package handoffs

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
)

// Decide gives the events of a handoff, or refuses it as the rules do: it finds who can receive it, composes and seals what they
// are to have, passes over those that it does not fit, and has the rules decide. It changes nothing by itself, except that a
// half-open circuit's probe is claimed. A receiver that the server sends to may be away: the offer waits.
func (h *Handoffs) Decide(ctx context.Context, c caller.Caller, in SendInput, t task.Task, now time.Time) ([]event.Event, error) {
	if err := in.Content.Check(); err != nil {
		return nil, err
	}
	if len(in.Constraints) == 0 {
		return h.decide(ctx, c, in, t, now)
	}
	bound, err := handoff.Decide(t, in.binding(c), now)
	if err != nil {
		return nil, err
	}
	t.Apply(bound...)
	sent, err := h.decide(ctx, c, in, t, now)
	if err != nil {
		return nil, err
	}
	return append(bound, sent...), nil
}

// decide is Decide with content that has been checked, of a task that is bound by what the sender adds.
func (h *Handoffs) decide(ctx context.Context, c caller.Caller, in SendInput, t task.Task, now time.Time) ([]event.Event, error) {
	if in.auto() {
		return h.decideAuto(ctx, c, in, t, now)
	}
	if in.Kind == "" {
		in.Kind = event.Warm
		if in.Channel != "" {
			in.Kind = event.Broadcast
		}
	}
	if in.Reason == "" {
		in.Reason = event.ReasonUserRequest
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if err := h.CheckExpected(in.Expected); err != nil { // the children's envelopes carry it
		return nil, err
	}
	if err := handoff.MaySend(t, c.Principal, in.Epoch); err != nil { // a sender that is too late is told nothing else
		return nil, err
	}
	routed := len(in.To) == 0 && in.Capability == "" && in.Channel == "" && in.Up.Name == ""
	if routed {
		if len(t.Route) == 0 {
			return nil, refusal.New(refusal.Invalid, "[name an agent](.to), [a capability](.capability) or [a channel](.channel)", "task %s has no route to follow", t.ID)
		}
		in.To = t.Route[:1]
	}
	var desks []event.Candidate
	in.To, desks = people(in.To)
	if err := h.identify(ctx, c.Workspace, &in); err != nil {
		return nil, err
	}
	p, err := h.plan(ctx, c, in, desks, t, now)
	if err != nil {
		return nil, err
	}
	p, sealed, err := h.seal(ctx, c, in, t, p, now)
	if err != nil {
		return nil, err
	}
	if in.Kind == event.Delegation || in.FanOut {
		return h.spawning(ctx, c, in, t, p, sealed, now)
	}
	cmd := in.request(c, p, sealed)
	cmd.RouteStep = routed
	return h.routes.Offering(ctx, c.Workspace, t, now, handoff.Hints{Jitter: h.routes.Jitter()}, func(hints handoff.Hints) handoff.Command {
		cmd.Hints = hints
		return cmd
	})
}

// identify puts in the identities of the agents that a send names.
func (h *Handoffs) identify(ctx context.Context, workspace string, in *SendInput) error {
	to := make([]string, len(in.To))
	for i, name := range in.To {
		var err error
		if to[i], err = h.agents.Identity(ctx, workspace, name); err != nil {
			return err
		}
	}
	in.To = to
	var err error
	in.Approver, err = h.agents.Identity(ctx, workspace, in.Approver)
	return err
}

// plan is whom a handoff can go to, with the agents and people that stand behind them.
func (h *Handoffs) plan(ctx context.Context, c caller.Caller, in SendInput, desks []event.Candidate, t task.Task, now time.Time) (routes.Plan, error) {
	if err := h.checkDesks(ctx, c.Workspace, in.Kind, desks); err != nil {
		return routes.Plan{}, err
	}
	req := routing.Request{Agents: in.To, Spread: t.ID, Fallbacks: h.policies.InMemory(c.Workspace).FallbacksOf, Own: in.handoffs(t), Sender: t.SourcePrincipal()}
	if in.Capability != "" {
		req.Needs, req.Likes = []string{in.Capability}, routing.Likes(t.Tags)
	}
	if t.Owner != "" {
		req.Exclude = []string{t.Owner}
	}
	p, err := h.routeOrDesk(ctx, c, in, req, desks, now)
	if behind := in.first(); err == nil && behind != (event.Receiver{}) && len(desks) == 0 && !in.FanOut && in.Kind != event.Delegation {
		p, err = h.routes.Behind(ctx, c.Workspace, p, behind, h.policies.InMemory(c.Workspace), t, req, now)
	}
	if err != nil || p.Refused == nil {
		return p, err
	}
	switch {
	case c.IsSystem():
	case t.Owner != "" && t.Owner == c.Agent() && len(in.To) > 0 && !slices.ContainsFunc(in.To, func(name string) bool { return name != t.Owner }): // waiting does not change it
		return p, refusal.New(refusal.Invalid, "name another agent", "%s has the task already", t.Owner)
	case len(p.Away) > 0: // as it would for an agent that was never started
		p.Candidates, p.Refused = p.Away, nil
		return p, nil
	default:
		return p, p.Refused
	}
	p.Candidates = event.Named(in.To...) // nobody waits for the refusal: the offer waits for a receiver that comes back
	return p, nil
}

// seal composes and seals what a handoff carries, and leaves in the plan only receivers that it fits.
func (h *Handoffs) seal(ctx context.Context, c caller.Caller, in SendInput, t task.Task, p routes.Plan, now time.Time) (routes.Plan, event.Sealed, error) {
	sealed, doc, err := h.sealer.Compose(ctx, c, t, in.header(c, t, targets(p.Candidates)), in.Content, now)
	if err != nil {
		return p, sealed, err
	}
	if err := envelopes.CheckPins(doc, in.Pack); err != nil {
		return p, sealed, err
	}
	fit, passed, err := h.fitting(ctx, &c, &in, &t, &p, &sealed, &doc, now)
	if err != nil {
		return p, sealed, err
	}
	p.Candidates, p.Passed = fit, append(p.Passed, passed...)
	if n := len(targets(p.Candidates)); in.FanOut && n*len(sealed.Bytes) > maxFanOut {
		return p, sealed, refusal.New(refusal.TooLarge, "[put large data elsewhere](artifact put) and refer to it, or name fewer receivers",
			"%d copies of an envelope of %d bytes are more than %d bytes", n, len(sealed.Bytes), maxFanOut)
	}
	return p, sealed, nil
}

// CheckExpected refuses expectations that no result could be held against, or that no envelope could carry.
func (h *Handoffs) CheckExpected(e event.Expected) error {
	if err := h.expect.CheckExpected(e); err != nil || len(e.Schema) == 0 {
		return err
	}
	_, err := envelope.Canonical(e.Schema)
	return err
}

// maxFanOut is the most bytes of envelopes that one fan-out makes.
const maxFanOut = 16 << 20

// binding adds the sender's constraints.
func (in *SendInput) binding(c caller.Caller) (all handoff.Sequence) {
	for _, k := range in.Constraints {
		all = append(all, handoff.Constrain{By: c.Principal, Epoch: in.Epoch, Constraint: k, Count: envelopes.Tokens})
	}
	return all
}

func (in *SendInput) request(c caller.Caller, p routes.Plan, sealed event.Sealed) handoff.Send {
	return handoff.Send{
		By: c.Principal, Asked: in.Asked, Epoch: in.Epoch, Kind: in.Kind, Claim: in.Kind == event.Broadcast, Reason: in.Reason, Detail: in.Detail,
		Capability: in.Capability, Chain: p.Chain, Channel: in.Channel, Candidates: p.Candidates, Passed: p.Passed, Confirm: in.Confirm, Timeouts: in.Timeouts,
		Retries: in.Retries, ReturnHome: in.ReturnHome, Approver: in.Approver, Permissions: in.Permissions,
		NewWork: in.Content.HasWork(), Envelope: sealed, Pack: in.Pack, Decision: in.Decision,
	}
}

// header is the envelope's header for the task's next handoff; without receivers, for the task alone.
func (in *SendInput) header(c caller.Caller, t task.Task, to []string) envelope.Header {
	h := envelope.Header{
		From: event.Bare(t.Source()), By: envelopes.AskedBy(c, in.Asked, t), To: to, Reason: in.Reason, Detail: in.Detail, Kind: in.Kind,
		Permissions: in.Permissions,
	}
	if in.Kind != "" {
		h.HandoffID, h.TimeoutSeconds = t.NextHandoffID(), envelopes.Seconds(in.Timeouts.Over(t.Times).Ack)
	}
	return h
}

// targets is the agents that a handoff is meant for, without fallbacks.
func targets(candidates []event.Candidate) []string {
	var to []string
	for _, c := range candidates {
		if c.Tier == event.TierTarget && !c.IsDesk() {
			to = append(to, c.Agent)
		}
	}
	return to
}
