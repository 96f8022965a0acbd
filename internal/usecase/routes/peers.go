package routes

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
)

// MaxPeers is how many others an offer that is shed may go to, one after the other.
const MaxPeers = 3

// Peers are those who can do what an agent does and have room for more. They are looked up once; what they are given
// meanwhile is counted with [Peers.Gave], so that they are loaded evenly. It is for one goroutine.
type Peers struct {
	routes    *Routes
	workspace string
	of        agent.State
	found     map[string][]string // by capability
	load      map[string]*peer
}

type peer struct{ has, room int }

// NewPeers is the peers of an agent; nobody is looked up yet.
func (r *Routes) NewPeers(workspace string, of agent.State) *Peers {
	return &Peers{routes: r, workspace: workspace, of: of, found: map[string][]string{}, load: map[string]*peer{}}
}

// Gave counts an offer to a peer.
func (p *Peers) Gave(name string) {
	if k := p.load[name]; k != nil {
		k.has++
	}
}

// For is the peers that have room, the least loaded first, as candidates: who has a capability, or, if none is named, all that the
// agent has; and where the agent has none, its fallbacks. Whether they can read what they would get is not looked at.
func (p *Peers) For(ctx context.Context, capability string, now time.Time) ([]event.Candidate, error) {
	names, known := p.found[capability]
	if !known {
		var err error
		if names, err = p.find(ctx, capability, now); err != nil {
			return nil, err
		}
		p.found[capability] = names
	}
	fit := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return p.load[n].has >= p.load[n].room })
	slices.SortStableFunc(fit, func(a, b string) int {
		x, y := p.load[a], p.load[b]
		return cmp.Compare(x.has*y.room, y.has*x.room)
	})
	list := make([]event.Candidate, len(fit))
	for i, name := range fit {
		list[i] = event.Candidate{Agent: name, Tier: event.TierFallback}
	}
	return list, nil
}

func (p *Peers) find(ctx context.Context, capability string, now time.Time) ([]string, error) {
	req := routing.Request{Exclude: []string{p.of.Name}}
	switch {
	case capability != "":
		req.Needs = []string{capability}
	case len(p.of.Spec.Capabilities) > 0:
		req.Needs = p.of.Spec.Capabilities[:min(len(p.of.Spec.Capabilities), routing.MaxNeeds)]
	default:
		req.Agents = []string{agents.Exactly(p.of.Name)}
	}
	plan, err := p.routes.Plan(ctx, p.workspace, req, now)
	if err != nil || plan.Refused != nil { // nobody can take it
		return nil, err
	}
	var names []string
	for _, c := range plan.Candidates {
		there, err := p.weigh(ctx, c.Agent)
		if err != nil {
			return nil, err
		}
		if there {
			names = append(names, c.Agent)
		}
	}
	return names, nil
}

// weigh notes how much a peer has to do, and reports whether it is one.
func (p *Peers) weigh(ctx context.Context, name string) (bool, error) {
	known, err := p.routes.agents.Known(ctx, p.workspace, name, false)
	if err != nil || !known.Exists() || name == p.of.Name {
		return false, err
	}
	if p.load[name] != nil {
		return true, nil
	}
	held, err := p.routes.views.Held(ctx, p.workspace, name)
	if err != nil {
		return false, stream.Unavailable(err)
	}
	offers, err := p.routes.OffersTo(ctx, p.workspace, name)
	if err != nil {
		return false, err
	}
	p.load[name] = &peer{has: held + len(offers), room: cmp.Or(known.Spec.MaxTasks, routing.NominalCapacity)}
	return true, nil
}

// OffersTo lists the offers that wait for an agent alone, in the order in which they would be shed: the lowest priority
// first, and the oldest of those.
func (r *Routes) OffersTo(ctx context.Context, workspace, agent string) ([]view.Item, error) {
	box, err := r.views.Inbox(ctx, workspace, agent, view.InboxFilter{Limit: view.MaxPage})
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	items := slices.DeleteFunc(box.Items, func(i view.Item) bool { return i.Type != view.ItemOffer || i.Claim })
	slices.SortStableFunc(items, func(x, y view.Item) int {
		return cmp.Or(cmp.Compare(x.Priority.Rank(), y.Priority.Rank()), x.Since.Compare(y.Since))
	})
	return items, nil
}
