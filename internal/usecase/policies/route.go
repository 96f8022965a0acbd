package policies

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
)

// RouteInput asks where a task would go.
type RouteInput struct {
	Task    string            `json:"task,omitempty"`
	Content envelopes.Content `json:"content,omitzero" doc:"What would be added to the envelope."`
	AskLLM  bool              `json:"ask_llm,omitempty" doc:"Where no rule matches, ask the language model that the policy names. What it is asked and says goes on the task's record."`
	// Policy is a policy file to try, instead of the one in force.
	Policy *PolicyInput `json:"policy,omitempty" doc:"A policy file to try instead of the one in force."`
}

// Routed is where a task would go.
type Routed struct {
	Task     string         `json:"task"`
	Decision event.Decision `json:"decision"`
}

// Route says what the policy makes of a task, and why, and changes nothing. It is for those who could hand the task off, and on
// record as a read.
func (ps *Policies) Route(ctx context.Context, c caller.Caller, in RouteInput) (Routed, error) {
	d, err := ps.route(ctx, c, in)
	if err != nil {
		return Routed{}, ps.access.Refused(ctx, c.Workspace, c.Actor(), "route", in.Task, err)
	}
	return Routed{Task: in.Task, Decision: d}, nil
}

func (ps *Policies) route(ctx context.Context, c caller.Caller, in RouteInput) (event.Decision, error) {
	if err := in.Content.Check(); err != nil {
		return event.Decision{}, err
	}
	t, err := ps.decider.tasks.For(ctx, c, in.Task)
	if err != nil {
		return event.Decision{}, err
	}
	q, err := ps.decider.Question(ctx, c, in.Content, t.Task, ps.now().UTC())
	if err != nil {
		return event.Decision{}, err
	}
	if err := ps.access.Read(ctx, c.Workspace, c.Actor(), t.ID, "route", t.Envelope); err != nil {
		return event.Decision{}, err
	}
	if in.Policy != nil {
		return ps.try(ctx, c, *in.Policy, q)
	}
	if !in.AskLLM {
		return ps.decider.Decide(ctx, c.Workspace, q, nil, ps.now().UTC())
	}
	k := &Consultation{}
	d, err := Consult(ctx, k, func() (event.Decision, error) { return ps.decider.Decide(ctx, c.Workspace, q, k, ps.now().UTC()) })
	if noted := ps.decider.Note(ctx, c, t.ID, k, &d, nil); err == nil {
		err = noted
	}
	return d, err
}

// try is [Decider.Decide] by a file that need not be in force, which must have no problems. It is for trying.
func (ps *Policies) try(ctx context.Context, c caller.Caller, in PolicyInput, q routing.Question) (event.Decision, error) {
	p, problems, err := ps.check(ctx, c, in)
	if err == nil {
		err = problems.Err()
	}
	if err != nil {
		return event.Decision{}, err
	}
	q.Policy, q.Now = p, ps.now()
	return ps.store.routes.Consult(ctx, c.Workspace, q)
}
