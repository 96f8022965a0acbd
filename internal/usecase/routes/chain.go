package routes

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/routing"
)

// Chain is what of an escalation chain is above a task. The levels are shared: nobody changes them.
type Chain struct {
	Name   string
	Below  int // levels that were asked already
	Levels []policy.Level
}

// own is what comes before the name of an agent in the name of the chain of its registration.
const own = "agent/"

// ChainOf is the chain along which an agent's tasks are escalated: the one of its registration, which ends with the
// operators, or else the policy's. No name: there is none.
func ChainOf(p *policy.Policy, agent agent.State) Chain {
	if len(agent.Spec.Escalation) == 0 {
		name, levels := p.ChainFor(agent)
		return Chain{Name: name, Levels: levels}
	}
	c := Chain{Name: own + agent.Name}
	for _, name := range agent.Spec.Escalation {
		c.Levels = append(c.Levels, policy.Level{Agent: name})
	}
	c.Levels = append(c.Levels, policy.Level{Human: event.DeskOperators})
	return c
}

// Above is what is above a task that is to be escalated: of the chain along which its owner got it, or else of the owner's
// own, or else of the one in which the task stands. It refuses (invalid) where there is none, or nothing is left of it.
func (r *Routes) Above(ctx context.Context, workspace string, p *policy.Policy, t task.Task) (Chain, error) {
	if t.Owner == "" {
		return Chain{}, refusal.New(refusal.Invalid, "[name an agent](.to)", "nobody owns task %s, so there is no escalation chain", t.ID)
	}
	var c Chain
	var err error
	if t.Chain.Agent == t.Owner {
		c, err = r.named(ctx, workspace, p, t.Chain.Chain)
	}
	if err == nil && c.Name == "" {
		var owner agent.State
		owner, err = r.agents.Known(ctx, workspace, t.Owner, false)
		c = ChainOf(p, owner)
	}
	if err == nil && c.Name == "" && t.Chain.Chain != "" {
		c, err = r.named(ctx, workspace, p, t.Chain.Chain)
	}
	if err != nil {
		return Chain{}, err
	}
	if c.Name == "" {
		return c, refusal.New(refusal.Invalid, "[name an agent](.to), or human:operators to ask people", "the owner of task %s has no escalation chain", t.ID)
	}
	return c.after(t)
}

// Along is what is above a task in a chain of the policy.
func Along(p *policy.Policy, chain string, t task.Task) (Chain, error) {
	return Chain{Name: chain, Levels: p.Chain(chain)}.after(t)
}

// left is what is left of a whole chain for a task that stands in it.
func (c Chain) left(t task.Task) Chain {
	if t.Chain.Chain == c.Name {
		c.Below = min(t.Chain.Level, len(c.Levels))
		c.Levels = c.Levels[c.Below:]
	}
	return c
}

// after is [Chain.left], and refuses (invalid) where that is nothing.
func (c Chain) after(t task.Task) (Chain, error) {
	if c = c.left(t); len(c.Levels) == 0 {
		return c, refusal.New(refusal.Invalid, "[name an agent](.to), or human:operators to ask people again",
			"task %s stands at the end of the escalation chain %s", t.ID, c.Name)
	}
	return c, nil
}

// named is a whole chain by its name; none if it is no longer there.
func (r *Routes) named(ctx context.Context, workspace string, p *policy.Policy, name string) (Chain, error) {
	agent, is := strings.CutPrefix(name, own)
	if !is {
		if levels := p.Chain(name); len(levels) > 0 {
			return Chain{Name: name, Levels: levels}, nil
		}
		return Chain{}, nil
	}
	known, err := r.agents.Known(ctx, workspace, agent, false)
	if err != nil || len(known.Spec.Escalation) == 0 {
		return Chain{}, err
	}
	return ChainOf(p, known), nil
}

// Climb is the receivers of a handoff up a chain: those of the first level as targets, those of the others as escalation, and
// people at the end.
func (r *Routes) Climb(ctx context.Context, workspace string, c Chain, req routing.Request, now time.Time) (Plan, error) {
	out := Plan{Chain: c.Name}
	tier := event.TierTarget
	for i, l := range c.Levels {
		level := c.Below + i + 1
		if l.Human != "" {
			out.Candidates = append(out.Candidates, event.Candidate{Desk: l.Human, Tier: tier, Level: level})
			continue
		}
		req.Agents, req.Needs = nil, nil
		if l.Agent != "" {
			req.Agents = []string{l.Agent}
		} else {
			req.Needs = []string{l.Capability}
		}
		p, err := r.Plan(ctx, workspace, req, now)
		if err != nil {
			return out, err
		}
		if no, ok := refusal.As(p.Refused); ok {
			out.Passed = append(out.Passed, event.Passed{Agent: l.Agent + l.Capability, Why: no.Message})
		}
		out.Passed = append(out.Passed, p.Passed...)
		for _, k := range p.Candidates {
			seen := slices.ContainsFunc(out.Candidates, func(o event.Candidate) bool { return o.Agent == k.Agent })
			if seen {
				continue
			}
			if tier == event.TierEscalation {
				k.Tier = tier
			}
			k.Level = level
			out.Candidates = append(out.Candidates, k)
		}
		tier = event.TierEscalation
	}
	return out, nil
}

// Behind puts the chain of an agent, or of a capability, behind a plan for a handoff to it: the level above the task there, and
// people at the end.
func (r *Routes) Behind(ctx context.Context, workspace string, plan Plan, to event.Receiver, p *policy.Policy, t task.Task, req routing.Request, now time.Time) (Plan, error) {
	code := refusal.CodeOf(plan.Refused)
	if plan.Refused != nil && code != refusal.Unavailable && code != refusal.CircuitOpen {
		return plan, nil
	}
	c, err := r.chainBehind(ctx, workspace, plan.targets, to, p)
	if c = c.left(t); err != nil || len(c.Levels) == 0 {
		return plan, err
	}
	up, err := r.Climb(ctx, workspace, c, req, now)
	if err != nil {
		return plan, err
	}
	if no, refused := refusal.As(plan.Refused); refused {
		plan.Passed, plan.Refused = append(plan.Passed, event.Passed{Agent: cmp.Or(to.Agent, to.Capability), Why: no.Message}), nil
	}
	plan.Chain = c.Name
	for _, k := range up.Candidates {
		if !slices.ContainsFunc(plan.Candidates, func(o event.Candidate) bool { return o.Who() == k.Who() }) {
			k.Tier = event.TierEscalation
			plan.Candidates = append(plan.Candidates, k)
		}
	}
	return plan, nil
}

// chainBehind is the chain that stands behind a handoff: the policy's of the capability that it is for, or else that of the
// first of its targets that has one.
func (r *Routes) chainBehind(ctx context.Context, workspace string, targets []string, to event.Receiver, p *policy.Policy) (Chain, error) {
	if to.Agent == "" {
		if name, levels := p.ChainForAny(to.Capability); name != "" {
			return Chain{Name: name, Levels: levels}, nil
		}
	}
	for _, name := range targets {
		known, err := r.agents.Known(ctx, workspace, name, false)
		if c := ChainOf(p, known); err != nil || c.Name != "" {
			return c, err
		}
	}
	return Chain{}, nil
}
