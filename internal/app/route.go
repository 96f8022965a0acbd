package app

import (
	"context"
	"iter"
	"time"

	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/stream"
)

// directory answers routing's questions from the agents' streams and the views.
type directory struct {
	app       *App
	ctx       context.Context //nolint:containedctx // lives for one call of Route
	workspace string
	err       error
}

// Lookup finds one agent.
func (d *directory) Lookup(name string) (routing.Hint, bool) {
	if registry.CheckName("agent", name) != nil {
		return routing.Hint{}, false
	}
	f, err := d.app.agents.Load(d.ctx, agentStream(d.workspace, name), false)
	if err != nil {
		d.err = err
		return routing.Hint{}, false
	}
	if f.Head == 0 {
		return routing.Hint{}, false
	}
	return d.hint(f.State), true
}

func (d *directory) hint(s registry.State) routing.Hint {
	h := routing.Hint{Agent: s}
	if s.Spec.MaxTasks > 0 {
		held, err := d.app.views.Held(d.ctx, d.workspace, s.Name)
		if err != nil {
			d.err = stream.Unavailable(err)
		}
		h.Held = held
	}
	return h
}

// All yields every agent.
func (d *directory) All() iter.Seq[routing.Hint] {
	return func(yield func(routing.Hint) bool) {
		agents, err := d.app.views.Agents(d.ctx, d.workspace)
		if err != nil {
			d.err = stream.Unavailable(err)
			return
		}
		for _, s := range agents {
			if !yield(d.hint(s)) {
				return
			}
		}
	}
}

func routingFor(agent string) routing.Request { return routing.Request{Agents: []string{agent}} }

// plan is whom to try, in the rules' words, and which of them only as the one probe of a half-open circuit; or why
// nobody can take it now.
type plan struct {
	candidates []fact.Candidate
	passed     []fact.Passed
	probes     map[string]bool
	refused    error
}

func (a *App) plan(ctx context.Context, workspace string, req routing.Request, now time.Time) (plan, error) {
	d := &directory{app: a, ctx: ctx, workspace: workspace}
	p, err := routing.Route(req, d, now)
	if d.err != nil {
		return plan{}, d.err
	}
	if err != nil {
		return plan{refused: err}, nil //nolint:nilerr // for the caller to judge
	}
	out := plan{probes: map[string]bool{}}
	for _, c := range p.Considered {
		if !c.Eligible {
			out.passed = append(out.passed, fact.Passed{Agent: c.Agent, Why: c.Why})
			continue
		}
		out.candidates = append(out.candidates, fact.Candidate{Agent: c.Agent, Tier: fact.Tier(c.Tier)})
		if c.Probe() {
			out.probes[c.Agent] = true
		}
	}
	return out, nil
}

// hints says which of the candidates should get no offer now. The first that would be a probe has the probe claimed
// for this handoff; who does not get it is unfit too.
func (a *App) hints(ctx context.Context, workspace, handoffID string, candidates []fact.Candidate, now time.Time) (handoff.Hints, error) {
	h := handoff.Hints{Unfit: map[string]string{}, Jitter: a.jitter()}
	if len(candidates) == 0 {
		return h, nil
	}
	if len(candidates) > routing.MaxTargets {
		candidates = candidates[:routing.MaxTargets]
	}
	req := routing.Request{}
	d := &directory{app: a, ctx: ctx, workspace: workspace}
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
	if d.err != nil {
		return h, d.err
	}
	first := true
	for _, c := range p.Considered {
		if !c.Eligible {
			h.Unfit[c.Agent] = c.Why
			continue
		}
		h.Unfit[c.Agent] = ""
		if c.Probe() && first {
			h.Unfit[c.Agent] = a.probe(ctx, workspace, c.Agent, handoffID)
		}
		first = first && h.Unfit[c.Agent] != ""
	}
	return h, nil
}

// probe claims the one probe of a half-open circuit. It returns why not, or "".
func (a *App) probe(ctx context.Context, workspace, agent, handoffID string) string {
	_, err := a.changeAgent(ctx, system(workspace, "routing"), agent, "", registry.ClaimProbe{Name: agent, Handoff: handoffID})
	if err == nil {
		return ""
	}
	if r, ok := refusal.As(err); ok {
		return r.Message
	}
	return "its circuit could not be probed"
}

func (a *App) jitter() float64 {
	var b [2]byte
	if a.bytes(b[:]) != nil {
		return 0.5 // spreading retries is a courtesy; the middle serves
	}
	return float64(uint(b[0])<<8|uint(b[1])) / (1 << 16)
}
