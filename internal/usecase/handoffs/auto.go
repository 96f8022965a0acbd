package handoffs

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
)

// Automatic is what one call makes of handing a task to where the policy says: what the adviser was asked, and what was decided.
type Automatic struct {
	Decided *event.Decision       // nil: nothing yet
	Consult policies.Consultation // spans the decisions of the call: see [policies.Consult]
}

// decideAuto is decide where the policy is to decide. Of a task that stays where it is, the decision is recorded by itself.
func (h *Handoffs) decideAuto(ctx context.Context, c caller.Caller, in SendInput, t task.Task, now time.Time) ([]event.Event, error) {
	if err := in.checkAuto(); err != nil {
		return nil, err
	}
	q, err := h.decider.Question(ctx, c, in.Content, t, now)
	if err != nil {
		return nil, err
	}
	if err := handoff.MaySend(t, c.Principal, in.Epoch); err != nil { // before anybody is asked in vain
		return nil, err
	}
	d, err := h.decider.Decide(ctx, c.Workspace, q, &in.Auto.Consult, now)
	if err != nil {
		return nil, err
	}
	if d.Action == event.ActionKeep && in.FanIn.Mode != "" {
		d.Why = append(d.Why, "the fan-in counts for nothing, since nothing is handed off")
	}
	in.Auto.Decided = &d
	var sent []event.Event
	if d.Action == event.ActionHandOff {
		if sent, err = h.follow(ctx, c, in, d, t, now); err != nil {
			return nil, err
		}
	}
	events, err := in.Auto.Consult.Settle(t, &d, sent, now)
	if err != nil || d.Action != event.ActionKeep {
		return events, err
	}
	kept, err := handoff.Decide(t, handoff.Keep{Decision: d}, now)
	return append(events, kept...), err
}

// follow is the handoff that a decision leads to.
func (h *Handoffs) follow(ctx context.Context, c caller.Caller, in SendInput, d event.Decision, t task.Task, now time.Time) ([]event.Event, error) {
	in = in.by(d)
	if d.To.Chain != "" {
		book, err := h.policies.Policy(ctx, c.Workspace)
		if err == nil {
			in.Up, err = routes.Along(book, d.To.Chain, t)
		}
		if err != nil {
			return nil, err
		}
	}
	return h.decide(ctx, c, in, t, now)
}

// by is what a decision makes of a send. What the sender says of the reason stays.
func (in SendInput) by(d event.Decision) SendInput {
	in.To, in.Decision = nil, &d
	in.Capability, in.Channel = d.To.Capability, d.To.Channel
	in.Kind, in.Approver = d.Kind, d.Approver
	switch {
	case d.To.Agent != "":
		in.To = []string{d.To.Agent}
	case d.To.Desk != "":
		in.To = []string{toPeople + d.To.Desk}
	}
	if in.Reason == "" {
		in.Reason = d.Reason
	}
	if in.Detail == "" {
		in.Detail = d.Detail
	}
	if in.Pack.Tokens == 0 && in.Pack.Strategy == "" && len(in.Pack.Pinned) == 0 {
		in.Pack = d.Pack
	}
	return in
}
