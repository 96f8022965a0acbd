package app

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/stream"
	"github.com/trapezehq/trapeze/internal/view"
)

// change makes one decision on a task by a command of the rules. What the caller may not even see is not found.
func (a *App) change(ctx context.Context, c Caller, verb, task string, in any, cmd handoff.Command) (Receipt, error) {
	return a.changeWith(ctx, c, verb, task, in, func(t custody.Task, now time.Time) ([]fact.Event, error) {
		return handoff.Decide(t, cmd, now)
	})
}

// changeWith is change for use cases whose command depends on the task or the time, or that give more than one.
func (a *App) changeWith(ctx context.Context, c Caller, verb, task string, in any,
	decide func(custody.Task, time.Time) ([]fact.Event, error),
) (Receipt, error) {
	out, err := a.decide(ctx, c, verb, task, in, func(t custody.Task, now time.Time) ([]fact.Event, error) {
		if !t.Exists() || !a.touches(c, t) {
			return nil, noTask(task)
		}
		return decide(t, now)
	})
	if err != nil {
		return Receipt{}, a.access.Refused(ctx, c.Who(), verb, task, err)
	}
	return receipt(out), nil
}

func (a *App) decide(ctx context.Context, c Caller, verb, task string, in any,
	decide func(custody.Task, time.Time) ([]fact.Event, error),
) (stream.Outcome[custody.Task], error) {
	if err := c.May(identity.ActOwn, verb+" a task"); err != nil {
		return stream.Outcome[custody.Task]{}, err
	}
	if err := fact.CheckTaskID(task); err != nil {
		return stream.Outcome[custody.Task]{}, err
	}
	request, err := c.Digest(verb, in)
	if err != nil {
		return stream.Outcome[custody.Task]{}, err
	}
	a.Present(c)
	return a.tasks.Do(ctx, c.Write(request), taskStream(c.Workspace, task), decide)
}

// Task is a task as its fold has it.
type Task struct {
	custody.Task
	Position ledger.Position
}

// Task returns a task that the caller may see; to whom it was only offered or shared, a preview. It is a fresh read, and
// on record.
func (a *App) Task(ctx context.Context, c Caller, id string) (Task, error) {
	t, err := a.taskFor(ctx, c, id)
	if err != nil {
		return Task{}, a.access.Refused(ctx, c.Who(), "show", id, err)
	}
	t.Task = preview(c, t.Task)
	return t, a.access.Read(ctx, c.Who(), id, "task", "")
}

// taskFor is a fresh read of a task that the caller may see.
func (a *App) taskFor(ctx context.Context, c Caller, id string) (Task, error) {
	if err := c.May(identity.ReadOwn, "read a task"); err != nil {
		return Task{}, err
	}
	if err := fact.CheckTaskID(id); err != nil {
		return Task{}, err
	}
	f, err := a.tasks.Load(ctx, taskStream(c.Workspace, id), true)
	if err != nil {
		return Task{}, err
	}
	if !f.State.Exists() || !a.sees(c, f.State) {
		return Task{}, noTask(id)
	}
	return Task{Task: f.State, Position: f.Head}, nil
}

func noTask(id string) error {
	return refusal.New(refusal.NotFound, "check the id; list tasks to see those you have a part in", "there is no task %s that you may see", id)
}

// sees reports whether the caller has a part in the task: requested it, holds or held it, approves it, was offered or
// shared it. Those who may read anything see every task.
func (a *App) sees(c Caller, t custody.Task) bool {
	if c.IsSystem() || identity.May(c.Role, identity.ReadAny) || t.Requester == c.String() {
		return true
	}
	return c.Agent() != "" && slices.Contains(t.Involved, c.Agent())
}

// preview leaves out what is for the task's holders alone where the caller was only offered or shared it.
func preview(c Caller, t custody.Task) custody.Task {
	name := c.Agent()
	if holds(c, t) {
		return t
	}
	t.Intent = refusal.Clip(t.Intent, maxPreview)
	t.Progress, t.Result, t.Children, t.Asks = "", nil, nil, nil
	t.Shares = slices.DeleteFunc(slices.Clone(t.Shares), func(s custody.Share) bool { return s.To != name })
	return t
}

// holds reports whether the caller, who sees the task, has more to do with it than an offer or a share: it requested the
// task, holds, held or approves it, or may read anything.
func holds(c Caller, t custody.Task) bool {
	name, h := c.Agent(), t.Handoff
	held := func(v fact.Visit) bool { return v.Agent == name }
	return name == "" || t.Requester == c.String() || t.Owner == name || slices.ContainsFunc(t.Path, held) || h != nil && h.Approver == name
}

// mayRead reports whether the caller may read what a task's envelopes say: who holds it in one way or another, the
// receiver of an open offer that is no claim, and those it was shared with.
func (a *App) mayRead(ctx context.Context, c Caller, id string) (bool, error) {
	f, err := a.tasks.Load(ctx, taskStream(c.Workspace, id), true)
	t, name := f.State, c.Agent()
	if err != nil || !t.Exists() || !a.sees(c, t) {
		return false, err
	}
	h := t.InFlight()
	offered := h != nil && h.Stage == fact.Offered && !h.Claim && slices.Contains(h.To, name)
	shared := slices.ContainsFunc(t.Shares, func(s custody.Share) bool { return s.To == name })
	return holds(c, t) || offered || shared, nil
}

// maxPreview is how many bytes of the intent a preview shows, as inboxes do.
const maxPreview = 500

// touches reports whether a caller may try a command on the task at all. Beyond those who see it, an agent that was a
// candidate may be told that its offer is over.
func (a *App) touches(c Caller, t custody.Task) bool {
	if a.sees(c, t) {
		return true
	}
	h := t.Handoff
	return h != nil && slices.ContainsFunc(h.Candidates, func(k fact.Candidate) bool { return k.Agent == c.Agent() })
}

// TasksInput narrows a list of tasks.
type TasksInput struct {
	view.TaskFilter
}

// Tasks lists the tasks that the caller may see, newest first.
func (a *App) Tasks(ctx context.Context, c Caller, in TasksInput) ([]view.Task, error) {
	if err := c.May(identity.ReadOwn, "list tasks"); err != nil {
		return nil, a.access.Refused(ctx, c.Who(), "list", "", err)
	}
	if in.Limit < 0 || in.Limit > view.MaxPage {
		return nil, refusal.New(refusal.Invalid, "use 1 to 500", "a limit of %d is out of range", in.Limit)
	}
	f := in.TaskFilter
	if !identity.May(c.Role, identity.ReadAny) {
		f.Involving = c.Name
	}
	list, err := a.views.Tasks(ctx, c.Workspace, f)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	return list, nil
}
