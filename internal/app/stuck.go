package app

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/stream"
	"github.com/trapezehq/trapeze/internal/view"
)

// StuckInput says that a task's owner gets nowhere.
type StuckInput struct {
	Task   string `json:"task,omitempty" doc:"Id of the task."`
	Owner  string `json:"owner,omitempty" doc:"Its owner as you know it; if it has another, the call is refused."`
	Detail string `json:"detail,omitempty" doc:"How one can tell."`
}

// Stuck offers a task whose owner gets nowhere to those who stand in for it, at once: on the word of its requester, of the
// owner of a task that it works for, or of an operator. They get the last envelope and what the owner has reported. Until
// one accepts, the owner ends that by progress or a result; if nobody does, it keeps the task.
func (a *App) Stuck(ctx context.Context, c Caller, in StuckInput) (docket.Receipt, error) {
	out, err := a.tasks.Decide(ctx, c, "stuck", in.Task, in, func(t custody.Task, now time.Time) ([]fact.Event, error) {
		above, err := a.owns(ctx, c, t.Parent)
		if err != nil {
			return nil, err
		}
		if !t.Exists() || !above && !a.tasks.Sees(c, t) {
			return nil, docket.Unknown(in.Task)
		}
		if err := ownedBy(t, in.Owner); err != nil {
			return nil, err
		}
		return a.decideStuck(ctx, c, t, handoff.Stuck{By: c.By(), Above: above, Detail: in.Detail}, now)
	})
	if err != nil {
		return docket.Receipt{}, a.access.Refused(ctx, c.Who(), "stuck", in.Task, err)
	}
	return docket.ReceiptOf(out), nil
}

func (a *App) decideStuck(ctx context.Context, c Caller, t custody.Task, cmd handoff.Stuck, now time.Time) ([]fact.Event, error) {
	if _, err := handoff.Decide(t, cmd, now); err != nil && refusal.CodeOf(err) != refusal.Unavailable {
		return nil, err // whoever may take over, this caller may not say so
	}
	p, err := a.successors(ctx, c.Workspace, t, false, now)
	if err != nil {
		return nil, err
	}
	cmd.Recovery, cmd.Chain, cmd.Passed, cmd.Hints.Jitter = p.Candidates, p.Chain, p.Passed, a.Jitter()
	if len(cmd.Recovery) == 0 && p.Refused != nil {
		return nil, p.Refused
	}
	if len(cmd.Recovery) > 0 {
		fit, passed, sealed, err := a.recoverable(ctx, c.Workspace, t, cmd.Recovery, cmp.Or(cmd.Detail, t.Owner+" is stuck"), now)
		if err != nil {
			return nil, err
		}
		cmd.Recovery, cmd.Passed, cmd.Envelope = fit, append(cmd.Passed, passed...), sealed
	}
	return a.Offering(ctx, c.Workspace, t, now, cmd.Hints, func(hints handoff.Hints) handoff.Command {
		cmd.Hints = hints
		return cmd
	})
}

// maxGenerations is how far up a task's parents are looked for.
const maxGenerations = 32

// owns reports whether the caller, an agent, owns a task or one that it works for, and so on upwards.
func (a *App) owns(ctx context.Context, c Caller, of fact.Parent) (bool, error) {
	for range maxGenerations {
		if of.Task == "" || c.Agent() == "" {
			return false, nil
		}
		t, err := a.tasks.Find(ctx, c.Workspace, of.Task)
		if err != nil || t.Owner == c.Agent() {
			return err == nil, err
		}
		of = t.Parent
	}
	return false, nil
}

// maxRelief is how many tasks or offers are moved away from an agent in one turn.
const maxRelief = 100

// StuckAgentInput says that an agent gets nowhere, with all that it holds.
type StuckAgentInput struct {
	Agent  string `json:"agent,omitempty" doc:"Its name."`
	Detail string `json:"detail,omitempty" doc:"How one can tell."`
}

// StuckAgent is [App.Stuck] for what an agent holds and the caller may say so about, the oldest 100 of those at most.
// What it may not is left out.
func (a *App) StuckAgent(ctx context.Context, c Caller, in StuckAgentInput) (docket.Relief, error) {
	r, err := a.stuckAgent(ctx, c, in)
	if err != nil {
		return docket.Relief{}, a.access.Refused(ctx, c.Who(), "stuck-agent", in.Agent, err)
	}
	return r, nil
}

func (a *App) stuckAgent(ctx context.Context, c Caller, in StuckAgentInput) (docket.Relief, error) {
	r := docket.Relief{Agent: in.Agent, Moved: []docket.MovedTask{}, Kept: []docket.KeptTask{}, Position: a.views.Position()}
	if err := c.May(identity.ActOwn, "say that an agent is stuck"); err != nil {
		return r, err
	}
	if _, err := a.Agent(ctx, c, in.Agent); err != nil {
		return r, err
	}
	held, err := a.views.Tasks(ctx, c.Workspace, view.TaskFilter{Owner: in.Agent, State: fact.Executing, Limit: view.MaxPage})
	if err != nil {
		return r, stream.Unavailable(err)
	}
	slices.SortStableFunc(held, func(x, y view.Task) int { return x.Created.Compare(y.Created) })
	for _, t := range held {
		if len(r.Moved) == maxRelief {
			break
		}
		out, err := a.tasks.Decide(ctx, c, "stuck", t.ID, in, func(t custody.Task, now time.Time) ([]fact.Event, error) {
			above, err := a.owns(ctx, c, t.Parent)
			if err != nil || t.Owner != in.Agent || !above && !c.By().Operator && t.Requester != c.String() {
				return nil, err
			}
			return a.decideStuck(ctx, c, t, handoff.Stuck{By: c.By(), Above: above, Detail: in.Detail}, now)
		})
		if err == nil && len(out.Events) == 0 {
			continue // not the caller's to say
		}
		if err := r.Take(t.ID, out, err); err != nil {
			return r, err
		}
	}
	return r, nil
}
