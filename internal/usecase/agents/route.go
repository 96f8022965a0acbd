package agents

import (
	"context"
	"iter"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// directory answers routing's questions from the agents' streams and the views.
type directory struct {
	roster    *Roster
	ctx       context.Context //nolint:containedctx // lives for one call of Route
	workspace string
	err       error
	crowd     *view.Crowd // once All was asked
}

// Lookup finds one agent.
func (d *directory) Lookup(name string) (routing.Hint, bool) {
	if event.CheckName("agent", name) != nil {
		return routing.Hint{}, false
	}
	f, err := d.roster.agents.Load(d.ctx, agentStream(d.workspace, name), false)
	if err != nil {
		d.err = err
		return routing.Hint{}, false
	}
	if f.Head == 0 {
		return routing.Hint{}, false
	}
	return d.hint(f.State), true
}

func (d *directory) hint(s agent.State) routing.Hint {
	h := routing.Hint{Agent: s}
	switch {
	case s.Spec.MaxTasks == 0:
	case d.crowd != nil:
		h.Held = d.crowd.Held[s.Name]
	default:
		held, err := d.roster.views.Held(d.ctx, d.workspace, s.Name)
		if err != nil {
			d.err = stream.Unavailable(err)
		}
		h.Held = held
	}
	return h
}

// All yields every agent. What has not changed since the last decision in the workspace is not read again.
func (d *directory) All() iter.Seq[*routing.Hint] {
	return d.each(func(*agent.State) bool { return true })
}

// Having yields everybody who has the capability: looking at all takes less than another index.
func (d *directory) Having(capability string) iter.Seq[*routing.Hint] {
	return d.each(func(a *agent.State) bool { return a.Spec.Has(capability) })
}

func (d *directory) each(wanted func(*agent.State) bool) iter.Seq[*routing.Hint] {
	return func(yield func(*routing.Hint) bool) {
		if d.crowd == nil {
			before, _ := d.roster.crowds.Load(d.workspace)
			known, _ := before.(*view.Crowd)
			crowd, err := d.roster.views.Crowd(d.ctx, d.workspace, known)
			if err != nil {
				d.err = stream.Unavailable(err)
				return
			}
			d.crowd = crowd
			d.roster.crowds.Store(d.workspace, crowd)
		}
		var h routing.Hint
		for i := range d.crowd.Agents {
			if !wanted(&d.crowd.Agents[i]) {
				continue
			}
			h.Agent = d.crowd.Agents[i]
			if h.Held = 0; h.Agent.Spec.MaxTasks > 0 {
				h.Held = d.crowd.Held[h.Agent.Name]
			}
			if !yield(&h) {
				return
			}
		}
	}
}

// Consult says what a policy makes of a task, with the agents that there are. Of q, it adds those.
func (r *Roster) Consult(ctx context.Context, workspace string, q routing.Question) (event.Decision, error) {
	dir := &directory{roster: r, ctx: ctx, workspace: workspace}
	q.Directory = dir
	d, err := routing.Decide(ctx, q)
	if dir.err != nil {
		return d, dir.err
	}
	if err != nil {
		return d, stream.Unavailable(err)
	}
	return d, nil
}

// Holder is what is known of an agent that holds a task.
func (r *Roster) Holder(ctx context.Context, workspace, name string) (routing.Hint, error) {
	d := &directory{roster: r, ctx: ctx, workspace: workspace}
	h, _ := d.Lookup(name)
	if h.Agent.Exists() && h.Agent.Spec.MaxTasks == 0 && d.err == nil {
		h.Held, d.err = r.views.Held(ctx, workspace, name)
	}
	return h, d.err
}

// There is what a policy can name in a workspace, as far as the views have it.
func (r *Roster) There(ctx context.Context, workspace string) (policy.Targets, error) {
	agents, err := r.views.Agents(ctx, workspace)
	if err != nil {
		return policy.Targets{}, stream.Unavailable(err)
	}
	names, can, desks := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, a := range agents {
		names[a.Name] = true
		for _, c := range a.Spec.Capabilities {
			can[c] = true
			desks[c] = desks[c] || a.Spec.Kind == agent.KindHuman
		}
	}
	in := func(set map[string]bool) func(string) bool { return func(name string) bool { return set[name] } }
	return policy.Targets{
		Agent: in(names), Capability: in(can), Desk: in(desks),
		Channel: func(name string) bool {
			f, err := r.channels.Load(ctx, channelStream(workspace, name), true)
			return err != nil || f.State.Exists() // an error is no proof that it is not there
		},
	}, nil
}

// For routes to one agent, by name, or to who stands in for it, by the registry or a policy.
func For(agent string, p *policy.Policy) routing.Request {
	return routing.Request{Agents: []string{agent}, StandIns: p.StandIns}
}

// Plan is whom to try, in the rules' words, or why nobody can take it now. [Roster.Admit] says whether an offer may be
// made after all.
type Plan struct {
	Candidates []event.Candidate
	Chain      string // that the candidates' levels are of
	Passed     []event.Passed
	Refused    error

	targets []string // all that were asked for or found, fit or not
}

// Plan is whom routing proposes. What it refuses is in the plan; the error is of the record.
func (r *Roster) Plan(ctx context.Context, workspace string, req routing.Request, now time.Time) (Plan, error) {
	d := &directory{roster: r, ctx: ctx, workspace: workspace}
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
		out.Refused = err
		return out, nil //nolint:nilerr // for the caller to judge
	}
	for _, c := range p.Considered {
		if !c.Eligible {
			out.Passed = append(out.Passed, event.Passed{Agent: c.Agent, Why: c.Why})
			continue
		}
		known, _ := d.Lookup(c.Agent)
		human := known.Agent.Spec.Kind == agent.KindHuman
		out.Candidates = append(out.Candidates, event.Candidate{Agent: c.Agent, Tier: event.Tier(c.Tier), Human: human})
	}
	return out, nil
}

// Hints says which of the candidates should get no offer now, and why. [Roster.Admit] has the last word.
func (r *Roster) Hints(ctx context.Context, workspace string, candidates []event.Candidate, now time.Time) (handoff.Hints, error) {
	h := handoff.Hints{Unfit: map[string]string{}, Jitter: r.Jitter()}
	if len(candidates) > routing.MaxTargets {
		candidates = candidates[:routing.MaxTargets]
	}
	req := routing.Request{}
	d := &directory{roster: r, ctx: ctx, workspace: workspace}
	for _, c := range candidates {
		if known, ok := d.Lookup(c.Agent); ok && known.Agent.Exists() {
			req.Agents = append(req.Agents, c.Agent)
		} else {
			h.Unfit[c.Agent] = "is not registered"
		}
	}
	if len(req.Agents) == 0 {
		return h, d.err
	}
	p, _ := routing.Route(req, d, now) // a refusal says that nobody is fit, and the plan why
	for _, c := range p.Considered {
		if c.Eligible {
			continue
		}
		h.Unfit[c.Agent] = c.Why
		if known, _ := d.Lookup(c.Agent); c.Reason == routing.CircuitOpen {
			at := agent.CircuitAt(known.Agent, now).ResetAt
			if h.Later.IsZero() || at.Before(h.Later) {
				h.Later = at
			}
		}
	}
	return h, d.err
}

// Admit lets one offer of a handoff through an agent's circuit. One that is closed lets everything through; one that is
// half-open, the one handoff that claims its probe here, on the agent's own stream; any other is refused (circuit_open),
// saying until when. It may be repeated for the same handoff.
func (r *Roster) Admit(ctx context.Context, workspace, agentName, handoffID string) error {
	state, err := r.Known(ctx, workspace, agentName, false)
	if err != nil || agent.CircuitAt(state, r.now()).Phase == agent.Closed {
		return err
	}
	_, err = r.ChangeAgent(ctx, caller.System(workspace, "routing"), agentName, "", agent.ClaimProbe{Name: agentName, Handoff: handoffID})
	return err
}

// Jitter is a random number from 0 up to 1.
func (r *Roster) Jitter() float64 {
	var b [2]byte
	if r.Random(b[:]) != nil {
		return 0.5 // spreading retries is a courtesy; the middle serves
	}
	return float64(uint(b[0])<<8|uint(b[1])) / (1 << 16)
}
