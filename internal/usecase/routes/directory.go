package routes

import (
	"context"
	"iter"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/channels"
)

// directory answers routing's questions from the agents' streams and the views.
type directory struct {
	routes    *Routes
	ctx       context.Context //nolint:containedctx // lives for one call of Route
	workspace string
	err       error
	loads     *view.AgentLoads // once All was asked
	last      agent.State      // that was looked up, mostly several times in turn
	lastName  string           // by which it was
}

// Lookup finds one agent, by its name or identity.
func (d *directory) Lookup(name string) (routing.Hint, bool) {
	if name != d.lastName {
		state, err := d.routes.agents.Find(d.ctx, d.workspace, name, false)
		if err != nil {
			d.err = err
			return routing.Hint{}, false
		}
		d.last, d.lastName = state, name
	}
	if d.last.Name == "" {
		return routing.Hint{}, false
	}
	return d.hint(d.last), true
}

func (d *directory) hint(s agent.State) routing.Hint {
	h := routing.Hint{Agent: s}
	switch {
	case s.Spec.MaxTasks == 0:
	case d.loads != nil:
		h.Held = d.loads.Held[s.Name]
	default:
		held, err := d.routes.views.Held(d.ctx, d.workspace, s.Name)
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
		if d.loads == nil {
			before, _ := d.routes.loads.Load(d.workspace)
			known, _ := before.(*view.AgentLoads)
			loads, err := d.routes.views.AgentLoads(d.ctx, d.workspace, known)
			if err != nil {
				d.err = stream.Unavailable(err)
				return
			}
			d.loads = loads
			d.routes.loads.Store(d.workspace, loads)
		}
		var h routing.Hint
		for i := range d.loads.Agents {
			if !wanted(&d.loads.Agents[i]) {
				continue
			}
			h.Agent = d.loads.Agents[i]
			if h.Held = 0; h.Agent.Spec.MaxTasks > 0 {
				h.Held = d.loads.Held[h.Agent.Name]
			}
			if !yield(&h) {
				return
			}
		}
	}
}

// Consult says what a policy makes of a task, with the agents that there are. Of q, it adds those.
func (r *Routes) Consult(ctx context.Context, workspace string, q routing.Question) (event.Decision, error) {
	dir := &directory{routes: r, ctx: ctx, workspace: workspace}
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
func (r *Routes) Holder(ctx context.Context, workspace, name string) (routing.Hint, error) {
	d := &directory{routes: r, ctx: ctx, workspace: workspace}
	h, _ := d.Lookup(agents.Exactly(name))
	if h.Agent.Exists() && h.Agent.Spec.MaxTasks == 0 && d.err == nil {
		h.Held, d.err = r.views.Held(ctx, workspace, name)
	}
	return h, d.err
}

// There is what a policy can name in a workspace, as far as the views have it.
func (r *Routes) There(ctx context.Context, workspace string) (policy.Targets, error) {
	agents, err := r.views.Agents(ctx, workspace)
	if err != nil {
		return policy.Targets{}, stream.Unavailable(err)
	}
	names, can, desks := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, a := range agents {
		names[event.AgentName(a.Name)] = true
		for _, c := range a.Spec.Capabilities {
			can[c] = true
			desks[c] = desks[c] || a.Spec.Kind == agent.KindHuman
		}
	}
	in := func(set map[string]bool) func(string) bool { return func(name string) bool { return set[name] } }
	return policy.Targets{
		Agent: in(names), Capability: in(can), Desk: in(desks),
		Channel: func(name string) bool {
			f, err := r.channels.Load(ctx, channels.StreamOf(workspace, name), true)
			return err != nil || f.State.Exists() // an error is no proof that it is not there
		},
	}, nil
}
