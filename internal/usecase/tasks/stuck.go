package tasks

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
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
func (a *App) Stuck(ctx context.Context, c Caller, in StuckInput) (taskstore.Receipt, error) {
	out, err := a.tasks.Decide(ctx, c, "stuck", in.Task, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		above, err := a.owns(ctx, c, t.Parent)
		if err != nil {
			return nil, err
		}
		if !t.Exists() || !above && !a.tasks.Sees(c, t) {
			return nil, taskstore.Unknown(in.Task)
		}
		if err := ownedBy(t, in.Owner); err != nil {
			return nil, err
		}
		return a.decideStuck(ctx, c, t, handoff.Stuck{By: c.Principal, Above: above, Detail: in.Detail}, now)
	})
	if err != nil {
		return taskstore.Receipt{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "stuck", in.Task, err)
	}
	return taskstore.ReceiptOf(out), nil
}

func (a *App) decideStuck(ctx context.Context, c Caller, t task.Task, cmd handoff.Stuck, now time.Time) ([]event.Event, error) {
	if _, err := handoff.Decide(t, cmd, now); err != nil && refusal.CodeOf(err) != refusal.Unavailable {
		return nil, err // whoever may take over, this caller may not say so
	}
	p, err := a.successors(ctx, c.Workspace, t, false, now)
	if err != nil {
		return nil, err
	}
	cmd.Recovery, cmd.Chain, cmd.Passed, cmd.Hints.Jitter = p.Candidates, p.Chain, p.Passed, a.Jitter()
	if no, refused := refusal.As(p.Refused); refused && len(cmd.Recovery) == 0 {
		return nil, no.With("passed_over", p.Passed)
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
func (a *App) owns(ctx context.Context, c Caller, of event.Parent) (bool, error) {
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

// StuckAgent is [App.Stuck] for what an agent holds, the oldest 100 of it at most: each task has its own outcome. What the
// caller may not see is left out. A caller who may say so of nothing that it sees is refused.
func (a *App) StuckAgent(ctx context.Context, c Caller, in StuckAgentInput) (taskstore.Relief, error) {
	r, err := a.stuckAgent(ctx, c, in)
	if err != nil {
		return taskstore.Relief{}, a.access.Refused(ctx, c.Workspace, c.Actor(), "stuck-agent", in.Agent, err)
	}
	return r, nil
}

func (a *App) stuckAgent(ctx context.Context, c Caller, in StuckAgentInput) (taskstore.Relief, error) {
	r := taskstore.Relief{Agent: in.Agent, Moved: []taskstore.MovedTask{}, Kept: []taskstore.KeptTask{}, Position: a.views.Position()}
	if err := c.May(identity.ActOwn, "say that an agent is stuck"); err != nil {
		return r, err
	}
	if c.Agent() == in.Agent && in.Agent != "" {
		return r, refusal.New(refusal.Invalid, "escalate its tasks, or hand them on", "%s works on them itself", in.Agent)
	}
	if _, err := a.Agent(ctx, c, in.Agent); err != nil {
		return r, err
	}
	if err := a.CatchUp(ctx); err != nil { // nobody is told that there is nothing because of what the views lack
		return r, err
	}
	held, err := a.views.Tasks(ctx, c.Workspace, view.TaskFilter{Owner: in.Agent, Live: true, Limit: view.MaxPage})
	if err != nil {
		return r, stream.Unavailable(err)
	}
	slices.SortStableFunc(held, func(x, y view.Task) int { return x.Created.Compare(y.Created) })
	for _, t := range held {
		if len(r.Moved) == maxRelief {
			r.More = true
			break
		}
		if err := a.relieve(ctx, c, in, t.ID, &r); err != nil {
			return r, err
		}
	}
	return r, mayNot(c, r)
}

// relieve says of one task of an agent that it is stuck, and notes what became of that. One that a call with the same key has
// moved is noted again; others that the agent does not work on now are left out.
func (a *App) relieve(ctx context.Context, c Caller, in StuckAgentInput, taskID string, r *taskstore.Relief) error {
	hidden := true
	out, err := a.tasks.Decide(ctx, c, "stuck", taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		above, err := a.owns(ctx, c, t.Parent)
		if hidden = t.State != event.Executing || t.Owner != in.Agent || !above && !a.tasks.Sees(c, t); hidden || err != nil {
			return nil, err
		}
		return a.decideStuck(ctx, c, t, handoff.Stuck{By: c.Principal, Above: above, Detail: in.Detail}, now)
	})
	if err == nil && hidden && !out.Repeat {
		return nil
	}
	return r.Take(taskID, out, err)
}

// mayNot refuses who may say of nothing that an agent works on that it is stuck: not_permitted where it sees some of that, and
// else not_found, whether there is any or not. Operators see everything.
func mayNot(c Caller, r taskstore.Relief) error {
	const hint = "who requested a task, who owns the task that it works for, and operators may say so; or ask to take it over"
	denied := func(k taskstore.KeptTask) bool { return k.Code == refusal.NotPermitted }
	switch {
	case c.IsOperator() || len(r.Moved) > 0 || !slices.ContainsFunc(r.Kept, denied) && len(r.Kept) > 0:
		return nil
	case len(r.Kept) > 0:
		return refusal.New(refusal.NotPermitted, hint, "%s may say of none of the %d tasks that it sees with agent %s that they are stuck", c, len(r.Kept), r.Agent)
	}
	return refusal.New(refusal.NotFound, hint, "agent %s works on nothing that %s has a part in; what else it works on is not for %s to know", r.Agent, c, c)
}
