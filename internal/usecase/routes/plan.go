package routes

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
)

// For routes the next handoff of a task, on a sender's account, to one agent, or to the agents that stand in for it by their registration or a policy.
func For(agent string, p *policy.Policy, t task.Task, sender string) routing.Request {
	return routing.Request{Agents: []string{agents.Exactly(agent)}, Fallbacks: p.FallbacksOf, Own: []string{t.NextHandoffID()}, Sender: sender}
}

// Plan is the candidates for a handoff, in the terms of the rules, or why nobody can take it now. [Routes.Admit] says whether an offer may be
// made after all.
type Plan struct {
	Candidates []event.Candidate
	Chain      string // that the candidates' levels are of
	Passed     []event.Passed
	Refused    error
	// Away lists the targets that are not running, if no agent is eligible: an offer can wait for them.
	Away []event.Candidate

	targets []string // all that were asked for or found, fit or not
}

// PassedTargets are those that were passed over of the agents that were asked for or found, without those that would stand in for them.
func (p Plan) PassedTargets() []event.Passed {
	return slices.DeleteFunc(slices.Clone(p.Passed), func(k event.Passed) bool { return !slices.Contains(p.targets, k.Agent) })
}

// Plan is the candidates that routing proposes. A refusal of routing is in the plan; the error is one of the record.
func (r *Routes) Plan(ctx context.Context, workspace string, req routing.Request, now time.Time) (Plan, error) {
	d := &directory{routes: r, ctx: ctx, workspace: workspace}
	p, err := routing.Route(req, d, now)
	if d.err != nil {
		return Plan{}, d.err
	}
	var out Plan
	for _, c := range p.Considered {
		if c.Tier == routing.Target {
			out.targets = append(out.targets, c.Agent)
		}
	}
	if err != nil {
		for _, c := range p.Considered {
			if c.Reason == routing.Away && c.Tier == routing.Target {
				out.Away = append(out.Away, d.candidate(c))
			}
		}
		out.Refused = err // for the caller to judge
		return out, nil
	}
	for _, c := range p.Considered {
		if !c.Eligible {
			out.Passed = append(out.Passed, event.Passed{Agent: c.Agent, Why: c.Why})
			continue
		}
		out.Candidates = append(out.Candidates, d.candidate(c))
	}
	out.Candidates = append(out.Candidates, d.standby(req, p.Considered)...)
	return out, nil
}

// mostStandby is how many agents that are not running are candidates beside those that can take a task now.
const mostStandby = 8

// standby are the agents that were named for the handoff, or that stand in for these, and that are not running: they come last. An offer waits for one of
// them where no other agent is left, as it does where there was no other from the beginning.
func (d *directory) standby(req routing.Request, considered []routing.Considered) (list []event.Candidate) {
	if len(req.Agents) == 0 {
		return nil
	}
	for _, c := range considered {
		if c.Reason == routing.Away && len(list) < mostStandby {
			k := d.candidate(c)
			k.Tier = event.TierFallback
			list = append(list, k)
		}
	}
	return list
}

// candidate is a considered agent in the terms of the rules.
func (d *directory) candidate(c routing.Considered) event.Candidate {
	known, _ := d.Lookup(c.Agent)
	return event.Candidate{Agent: c.Agent, Tier: event.Tier(c.Tier), Human: known.Agent.Spec.Kind == agent.KindHuman}
}

// hints says which candidates of a handoff should get no offer now, and why. [Routes.Admit] has the last word.
func (r *Routes) hints(ctx context.Context, workspace, sender, handoffID string, candidates []event.Candidate, now time.Time) (handoff.Hints, error) {
	h := handoff.Hints{Unfit: map[string]string{}, Jitter: r.random.Jitter()}
	if len(candidates) > routing.MaxTargets {
		candidates = candidates[:routing.MaxTargets]
	}
	req := routing.Request{Own: []string{handoffID}, Sender: sender}
	d := &directory{routes: r, ctx: ctx, workspace: workspace}
	for _, c := range candidates {
		if known, ok := d.Lookup(agents.Exactly(c.Agent)); ok && known.Agent.Exists() {
			req.Agents = append(req.Agents, agents.Exactly(c.Agent))
		} else {
			h.Unfit[c.Agent] = "is not registered"
		}
	}
	if len(req.Agents) == 0 {
		return h, d.err
	}
	p, none := routing.Route(req, d, now) // a refusal says that nobody is fit, and the plan why
	people := slices.ContainsFunc(candidates, event.Candidate.IsDesk)
	for _, c := range p.Considered {
		if c.Eligible || none != nil && !people && c.Reason == routing.Away {
			continue
		}
		h.Unfit[c.Agent] = c.Why
		if known, _ := d.Lookup(c.Agent); c.Reason == routing.CircuitOpen {
			at := agent.CircuitFor(known.Agent, sender, now).ResetAt
			if h.Later.IsZero() || at.Before(h.Later) {
				h.Later = at
			}
		}
	}
	return h, d.err
}
