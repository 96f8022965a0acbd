package handoffs

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
)

// RecoveryPlan lists the agents that may replace the owner of a task: its fallbacks, then the owner itself, if it may come back, and
// then the agents above it in its chain.
func (h *Handoffs) RecoveryPlan(ctx context.Context, workspace string, t task.Task, back bool, now time.Time) (routes.Plan, error) {
	known := h.policies.InMemory(workspace)
	p, err := h.routes.Plan(ctx, workspace, routes.For(t.Owner, known, t, t.Requester), now)
	if err != nil {
		return p, err
	}
	p.Candidates = slices.DeleteFunc(p.Candidates, func(k event.Candidate) bool { return k.Agent == t.Owner })
	if back {
		p.Candidates, p.Refused = append(p.Candidates, event.Candidate{Agent: t.Owner, Tier: event.TierTarget}), nil
	}
	req := routing.Request{Exclude: []string{t.Owner}, Own: []string{t.NextHandoffID()}, Sender: t.Requester}
	return h.routes.Behind(ctx, workspace, p, event.Receiver{Agent: t.Owner}, known, t, req, now)
}

// Recoverable is the envelope for the agent that replaces an owner, and the fallbacks that can read it. Where nobody can, the
// rules say what becomes of the task.
func (h *Handoffs) Recoverable(ctx context.Context, workspace string, t task.Task, to []event.Candidate, by, detail string, now time.Time) (
	fit []event.Candidate, passed []event.Passed, envelope event.Sealed, err error,
) {
	sealed, doc, err := h.sealer.Handover(ctx, workspace, t, to[0].Agent, by, event.ReasonRecovery, detail, now)
	if refuses(err) { // the last envelope serves
		sealed = event.Sealed{Digest: t.Envelope}
		doc, err = h.sealer.Open(ctx, workspace, t.ID, t.Envelope)
	} else {
		envelope = sealed
	}
	if err != nil {
		return nil, nil, envelope, err
	}
	fit, passed, err = h.sealer.Fitting(ctx, workspace, &sealed, doc, to, event.Pack{})
	if refuses(err) { // nobody can read it
		err = nil
	}
	return fit, passed, envelope, err
}

// refuses reports whether an error is a refusal that trying again does not fix.
func refuses(err error) bool {
	_, refused := refusal.As(err)
	return refused && refusal.CodeOf(err) != refusal.Unavailable
}
