package tasks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// ShedInput asks that offers which wait for an agent go to others.
type ShedInput struct {
	Agent string `json:"agent,omitempty" doc:"Its name."`
	Keep  int    `json:"keep,omitempty" minimum:"0" doc:"How many of its offers stay: those of the highest priority."`
}

// ShedOffers moves offers that an agent has not accepted to ready agents that can do the same and have room: on the word of
// the agent itself, or of whoever may manage agents. Those of the lowest priority go first, the oldest of them first; at
// most 100 in one call. Offers to whoever is first, and those that were approved for the agent, stay.
func (a *App) ShedOffers(ctx context.Context, c Caller, in ShedInput) (taskstore.Relief, error) {
	r, err := a.shedOffers(ctx, c, in)
	if err != nil {
		return taskstore.Relief{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "shed", in.Agent, err)
	}
	return r, nil
}

func (a *App) shedOffers(ctx context.Context, c Caller, in ShedInput) (taskstore.Relief, error) {
	r := taskstore.Relief{Agent: in.Agent, Moved: []taskstore.MovedTask{}, Kept: []taskstore.KeptTask{}, Position: a.views.Position()}
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
	known, err := a.Known(ctx, c.Workspace, in.Agent, true)
	if err != nil {
		return r, err
	}
	if !known.Exists() {
		return r, refusal.New(refusal.NotFound, "list the agents to see who there is", "there is no agent %.80q", in.Agent)
	}
	offers, err := a.OffersTo(ctx, c.Workspace, in.Agent)
	if err != nil {
		return r, err
	}
	why := in.Agent + " sheds load"
	if c.Agent() != in.Agent {
		why += ", says " + c.String()
	}
	peers := a.NewPeers(c.Workspace, known)
	for _, o := range offers[:min(max(len(offers)-in.Keep, 0), maxRelief)] {
		decide := a.shedding(ctx, c, o, in.Agent, why, peers)
		out, err := a.tasks.Decide(ctx, c, "shed", o.Task, in, decide)
		if err := r.Take(o.Task, out, err); err != nil {
			return r, err
		}
		count(peers, out)
	}
	return r, nil
}

// count notes who got an offer that was shed.
func count(peers *agents.Peers, out stream.Outcome[task.Task]) {
	if h := out.State.Handoff; len(out.Events) > 0 && h != nil && len(h.To) == 1 {
		peers.Gave(h.To[0])
	}
}

// shedding decides to move one offer away from an agent.
func (a *App) shedding(ctx context.Context, c Caller, o view.Item, agent, why string, peers *agents.Peers) func(task.Task, time.Time) ([]event.Event, error) {
	return func(t task.Task, now time.Time) ([]event.Event, error) {
		_, n, err := event.ParseHandoffID(o.ID)
		if err != nil {
			return nil, err
		}
		cmd := handoff.Shed{By: c.Principal, Agent: agent, Handoff: n, Offer: o.Offer, Why: why}
		if _, err := handoff.Decide(t, cmd, now); err != nil { // only what is allowed is worth looking for others
			return nil, err
		}
		if cmd.To, err = a.relieving(ctx, c.Workspace, t, peers, now); err != nil {
			return nil, err
		}
		return a.Offering(ctx, c.Workspace, t, now, handoff.Hints{}, func(hints handoff.Hints) handoff.Command {
			cmd.Hints = hints
			return cmd
		})
	}
}

// relieving are the peers that can read the envelope of a task's handoff: the first few of those that have room.
func (a *App) relieving(ctx context.Context, workspace string, t task.Task, peers *agents.Peers, now time.Time) ([]string, error) {
	h := t.Handoff
	others, err := peers.For(ctx, h.Capability, now)
	if err != nil || len(others) == 0 {
		return nil, err
	}
	doc, err := a.sealer.Sealed(ctx, workspace, t.ID, h.Envelope)
	if err != nil {
		return nil, err
	}
	others, _, err = a.sealer.Fitting(ctx, workspace, h.Envelope, doc, others, h.Pack)
	if err != nil {
		return nil, err
	}
	to := make([]string, min(len(others), agents.MaxPeers))
	for i := range to {
		to[i] = others[i].Agent
	}
	return to, nil
}

// Relieve moves offers away from an agent that holds, and is offered, more than it may. It is for an entry of the record
// that made it more. Offers that the agent has seen stay: it is about to answer.
func (a *App) Relieve(ctx context.Context, workspace, agent string, e ledger.Entry) error {
	known, err := a.Known(ctx, workspace, agent, false)
	if err != nil || !known.Exists() || known.Spec.MaxTasks == 0 {
		return err
	}
	last, err := a.Last(ctx) // what was shed before counts
	if err == nil {
		err = a.Wait(ctx, last)
	}
	if err != nil {
		return err
	}
	held, err := a.views.Held(ctx, workspace, agent)
	if err != nil {
		return stream.Unavailable(err)
	}
	offers, err := a.OffersTo(ctx, workspace, agent)
	if err != nil {
		return err
	}
	over := held + len(offers) - known.Spec.MaxTasks
	offers = slices.DeleteFunc(offers, func(i view.Item) bool { return i.Seen })
	c := caller.System(workspace, "courier", e.Actor)
	why := fmt.Sprintf("%s holds and is offered more than its %d tasks", agent, known.Spec.MaxTasks)
	peers := a.NewPeers(workspace, known)
	for _, o := range offers[:min(max(over, 0), len(offers), maxRelief)] {
		out, err := a.tasks.Do(ctx, c.Write(""), taskstore.StreamOf(workspace, o.Task), a.shedding(ctx, c, o, agent, why, peers))
		if err := caller.Tolerate(err); err != nil {
			return err
		}
		count(peers, out)
	}
	return nil
}
