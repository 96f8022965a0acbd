package tasks

import (
	"cmp"
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// ShedInput asks that offers which wait for an agent go to others.
type ShedInput struct {
	Agent string `json:"agent,omitempty" doc:"Its name."`
	Keep  int    `json:"keep,omitempty" minimum:"0" doc:"How many of its offers stay: those of the highest priority."`
}

// ShedOffers moves offers that an agent has not accepted to ready agents that can do the same and have room: on the word of
// the agent itself, or of a caller who may manage agents. Those of the lowest priority go first, the oldest of them first; at
// most 100 in one call. Offers to the first who accepts, and those that were approved for the agent, stay.
func (ts *Tasks) ShedOffers(ctx context.Context, c caller.Caller, in ShedInput) (taskstore.Relief, error) {
	r, err := ts.shedOffers(ctx, c, in)
	if err != nil {
		return taskstore.Relief{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "shed", in.Agent, err)
	}
	return r, nil
}

func (ts *Tasks) shedOffers(ctx context.Context, c caller.Caller, in ShedInput) (taskstore.Relief, error) {
	known, err := ts.agentStore.Find(ctx, c.Workspace, in.Agent, true)
	if err != nil {
		return taskstore.Relief{}, err
	}
	in.Agent = cmp.Or(known.Name, in.Agent)
	r := taskstore.Relief{Agent: in.Agent, Moved: []taskstore.MovedTask{}, Kept: []taskstore.KeptTask{}, Position: ts.views.Position()}
	right := identity.ManageAgents
	if c.Agent() == in.Agent && in.Agent != "" {
		right = identity.ActOwn
	}
	if err := c.May(right, "shed an agent's offers"); err != nil {
		return r, err
	}
	if in.Keep < 0 {
		return r, refusal.New(refusal.Invalid, "use 0 or more", "%d offers cannot be kept", in.Keep)
	}
	if !known.Exists() {
		return r, ts.agentStore.Unknown(ctx, c.Workspace, in.Agent)
	}
	offers, err := ts.routes.OffersTo(ctx, c.Workspace, in.Agent)
	if err != nil {
		return r, err
	}
	why := in.Agent + " sheds load"
	if c.Agent() != in.Agent {
		why += ", says " + c.String()
	}
	peers := ts.routes.NewPeers(c.Workspace, known)
	for _, o := range offers[:min(max(len(offers)-in.Keep, 0), handoffs.MaxRelief)] {
		decide := ts.handoffs.Shedding(ctx, c, o, in.Agent, why, peers)
		out, err := ts.store.Decide(ctx, c, "shed", o.Task, in, decide)
		if err := r.Take(o.Task, out, err); err != nil {
			return r, err
		}
		handoffs.Count(peers, out)
		if out.Repeat { // what the first call moved counts, also in views that lag behind
			if err := ts.views.Wait(ctx, out.At); err != nil {
				return r, stream.Unavailable(err)
			}
		}
	}
	return r, nil
}
