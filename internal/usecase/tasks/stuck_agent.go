package tasks

import (
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
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// StuckAgentInput says that an agent makes no progress with any task that it holds.
type StuckAgentInput struct {
	Agent  string `json:"agent,omitempty" doc:"Its name."`
	Detail string `json:"detail,omitempty" doc:"How one can tell."`
}

// StuckAgent is [Tasks.Stuck] for what an agent holds, the oldest 100 of it at most: each task has its own outcome. What the
// caller may not see is left out. A caller who may say so of nothing that it sees is refused.
func (ts *Tasks) StuckAgent(ctx context.Context, c caller.Caller, in StuckAgentInput) (taskstore.Relief, error) {
	r, err := ts.stuckAgent(ctx, c, in)
	if err != nil {
		return taskstore.Relief{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "stuck-agent", in.Agent, err)
	}
	return r, nil
}

func (ts *Tasks) stuckAgent(ctx context.Context, c caller.Caller, in StuckAgentInput) (taskstore.Relief, error) {
	var err error
	if in.Agent, err = ts.agentStore.Identity(ctx, c.Workspace, in.Agent); err != nil {
		return taskstore.Relief{}, err
	}
	r := taskstore.Relief{Agent: in.Agent, Moved: []taskstore.MovedTask{}, Kept: []taskstore.KeptTask{}, Position: ts.views.Position()}
	if err := c.May(identity.ActOwn, "say that an agent is stuck"); err != nil {
		return r, err
	}
	if c.Agent() == in.Agent && in.Agent != "" {
		return r, refusal.New(refusal.Invalid, "[escalate its tasks](escalate), or [hand them on](send)", "%s works on them itself", in.Agent)
	}
	if _, err := ts.agents.Show(ctx, c, in.Agent); err != nil {
		return r, err
	}
	if err := ts.positions.CatchUp(ctx); err != nil { // nobody is told that there is nothing because of what the views lack
		return r, err
	}
	held, err := ts.views.Tasks(ctx, c.Workspace, view.TaskFilter{Owner: in.Agent, Live: true, Limit: view.MaxPage})
	if err != nil {
		return r, stream.Unavailable(err)
	}
	slices.SortStableFunc(held, func(x, y view.TaskRow) int { return x.Created.Compare(y.Created) })
	for _, t := range held {
		if len(r.Moved) == handoffs.MaxRelief {
			r.More = true
			break
		}
		if err := ts.relieve(ctx, c, in, t.ID, &r); err != nil {
			return r, err
		}
	}
	return r, mayNot(c, r)
}

// relieve says of one task of an agent that it is stuck, and notes what became of that. One that a call with the same key has
// moved is noted again; others that the agent does not work on now are left out.
func (ts *Tasks) relieve(ctx context.Context, c caller.Caller, in StuckAgentInput, taskID string, r *taskstore.Relief) error {
	hidden := true
	out, err := ts.store.Decide(ctx, c, "stuck", taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		above, err := ts.owns(ctx, c, t.Parent)
		if hidden = t.State != event.Executing || t.Owner != in.Agent || !above && !ts.store.Sees(c, t); hidden || err != nil {
			return nil, err
		}
		return ts.decideStuck(ctx, c, t, handoff.Stuck{By: c.Principal, Above: above, Detail: in.Detail}, now)
	})
	if err == nil && hidden && !out.Repeat {
		return nil
	}
	return r.Take(taskID, out, err)
}

// mayNot refuses a caller that may report none of the tasks of an agent as stuck: not_permitted if it sees some of them, and else
// not_found, whether there are any or not. Operators see everything.
func mayNot(c caller.Caller, r taskstore.Relief) error {
	const hint = "the requester of a task, the owner of its parent and operators may report it; or [ask to take it over](takeover)"
	denied := func(k taskstore.KeptTask) bool { return k.Code == refusal.NotPermitted }
	switch {
	case c.IsOperator() || len(r.Moved) > 0 || !slices.ContainsFunc(r.Kept, denied) && len(r.Kept) > 0:
		return nil
	case len(r.Kept) > 0:
		return refusal.New(refusal.NotPermitted, hint, "%s may report none of the %d tasks of agent %s that it sees as stuck", c, len(r.Kept), r.Agent)
	}
	return refusal.New(refusal.NotFound, hint, "agent %s works on nothing that %s has a part in; what else it works on is not for %s to know", r.Agent, c.Short(), c.Short())
}
