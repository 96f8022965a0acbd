package app

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/roster"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/rulebook"
)

// auto reports whether the policy is to decide where a task goes.
func (in SendInput) auto() bool { return len(in.To) == 1 && in.To[0] == routing.Auto }

// checkAuto refuses what is not for the sender to say where the policy is to decide.
func (in SendInput) checkAuto() error {
	for what, given := range map[string]bool{
		"a capability": in.Capability != "", "a channel": in.Channel != "", "a kind": in.Kind != "", "a fan-out": in.FanOut, "an approver": in.Approver != "",
	} {
		if given {
			return refusal.New(refusal.Invalid, "leave it out, or name receivers yourself", "a handoff to %s cannot have %s: the policy decides", routing.Auto, what)
		}
	}
	return nil
}

// decideAuto is decideChecked where the policy is to decide. A task that stays where it is gives no events.
func (a *App) decideAuto(ctx context.Context, c Caller, in SendInput, t custody.Task, now time.Time) ([]fact.Event, error) {
	if err := in.checkAuto(); err != nil {
		return nil, err
	}
	q, err := a.Question(ctx, c, in.Content, t, now)
	if err != nil {
		return nil, err
	}
	if err := handoff.MayRequest(t, c.By(), in.Epoch); err != nil { // before anybody is asked in vain
		return nil, err
	}
	d, err := a.Decide(ctx, c.Workspace, q, &in.Auto.consult, now)
	if err != nil {
		return nil, err
	}
	if d.Action == fact.ActionKeep && in.FanIn.Mode != "" {
		d.Why = append(d.Why, "the fan-in counts for nothing, since nothing is handed off")
	}
	in.Auto.decided = &d
	var sent []fact.Event
	if d.Action == fact.ActionHandOff {
		if sent, err = a.follow(ctx, c, in, d, t, now); err != nil {
			return nil, err
		}
	}
	return in.Auto.consult.Settle(t, &d, sent, now)
}

// follow is the handoff that a decision leads to.
func (a *App) follow(ctx context.Context, c Caller, in SendInput, d fact.Decision, t custody.Task, now time.Time) ([]fact.Event, error) {
	in = in.by(d)
	if d.To.Chain != "" {
		book, err := a.Policy(ctx, c.Workspace)
		if err == nil {
			in.Up, err = roster.Along(book, d.To.Chain, t)
		}
		if err != nil {
			return nil, err
		}
	}
	return a.decideChecked(ctx, c, in, t, now)
}

// by is what a decision makes of a send. What the sender says of the reason stays.
func (in SendInput) by(d fact.Decision) SendInput {
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

// Automatic is what one call makes of handing a task to where the policy says: what the adviser was asked, and what was decided.
type Automatic struct {
	decided *fact.Decision
	consult rulebook.Consultation
}

// deciding is [docket.Docket.ChangeWith] for calls that may hand a task to where the policy says. It tells what was decided.
func (a *App) deciding(ctx context.Context, c Caller, verb, task string, in any,
	decide func(auto *Automatic, t custody.Task, now time.Time) ([]fact.Event, error),
) (docket.Receipt, error) {
	var auto Automatic
	r, err := rulebook.Consult(ctx, &auto.consult, func() (docket.Receipt, error) {
		return a.tasks.ChangeWith(ctx, c, verb, task, in, func(t custody.Task, now time.Time) ([]fact.Event, error) {
			return decide(&auto, t, now)
		})
	})
	r.Decision = auto.decided
	if err != nil {
		_ = a.Note(ctx, c, task, &auto.consult, auto.decided, err) // the refusal is what the caller has to know
	}
	return r, err
}
