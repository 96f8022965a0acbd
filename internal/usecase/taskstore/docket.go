package taskstore

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Kind is the kind of tasks' streams.
const Kind = "task"

// StreamOf is the stream of a task.
func StreamOf(workspace, id string) ledger.Stream { return ledger.StreamOf(workspace, Kind, id) }

// Docket is the tasks on record, as use cases reach them. Its methods are safe for many goroutines.
type Docket struct {
	stream.Kind[task.Task, event.Event]
	access  *access.Log
	present func(caller.Caller)
	check   func(task.Task) error
}

// New returns the tasks of a ledger. present is told of every caller that works; at most cached folds are kept in memory.
func New(l ledger.Ledger, log *access.Log, present func(caller.Caller), now func() time.Time, cached int) (*Docket, error) {
	tasks, err := stream.New(Kind, l, task.Fold, now, event.Events, stream.Options[task.Task, event.Event]{
		Cached: cached, Weigh: task.Task.Weight, InPlace: (*task.Task).Apply,
	})
	if err != nil {
		return nil, err
	}
	return &Docket{Kind: tasks, access: log, present: present}, nil
}

// Provided is the same tasks, each decision on which is refused where check refuses the task as it is then.
func (d *Docket) Provided(check func(task.Task) error) *Docket {
	own := *d
	own.check = check
	return &own
}

// Task is a task as its fold has it.
type Task struct {
	task.Task
	Position ledger.Position
}

// Find is a fresh read of a task, whoever asks; the zero task for one that is not there.
func (d *Docket) Find(ctx context.Context, workspace, id string) (task.Task, error) {
	f, err := d.Load(ctx, StreamOf(workspace, id), true)
	return f.State, err
}

// Change makes one decision on a task by a command of the rules. What the caller may not even see is not found.
func (d *Docket) Change(ctx context.Context, c caller.Caller, verb, taskID string, in any, cmd handoff.Command) (Receipt, error) {
	return d.ChangeWith(ctx, c, verb, taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		return handoff.Decide(t, cmd, now)
	})
}

// ChangeWith is [Docket.Change] for use cases whose command depends on the task or the time, or that give more than one.
func (d *Docket) ChangeWith(ctx context.Context, c caller.Caller, verb, taskID string, in any,
	decide func(task.Task, time.Time) ([]event.Event, error),
) (Receipt, error) {
	out, err := d.Decide(ctx, c, verb, taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		if !t.Exists() || !d.touches(c, t) {
			return nil, Unknown(taskID)
		}
		return decide(t, now)
	})
	if err != nil {
		return Receipt{}, d.access.Refused(ctx, c.Workspace, c.Actor(), verb, taskID, err)
	}
	return ReceiptOf(out), nil
}

// Decide is one decision on a task by whoever may act, about whether the caller has a part in it or not. A refusal is for
// the caller of Decide to put on record.
func (d *Docket) Decide(ctx context.Context, c caller.Caller, verb, taskID string, in any,
	decide func(task.Task, time.Time) ([]event.Event, error),
) (stream.Outcome[task.Task], error) {
	if err := c.May(identity.ActOwn, verb+" a task"); err != nil {
		return stream.Outcome[task.Task]{}, err
	}
	if err := event.CheckTaskID(taskID); err != nil {
		return stream.Outcome[task.Task]{}, err
	}
	request, err := c.Digest(verb, in)
	if err != nil {
		return stream.Outcome[task.Task]{}, err
	}
	d.present(c)
	return d.Do(ctx, c.Write(request), StreamOf(c.Workspace, taskID), func(t task.Task, now time.Time) ([]event.Event, error) {
		if d.check != nil {
			if err := d.check(t); err != nil {
				return nil, err
			}
		}
		return decide(t, now)
	})
}

// For is a fresh read of a task that the caller may see. A refusal is for the caller of For to put on record.
func (d *Docket) For(ctx context.Context, c caller.Caller, id string) (Task, error) {
	if err := c.May(identity.ReadOwn, "read a task"); err != nil {
		return Task{}, err
	}
	if err := event.CheckTaskID(id); err != nil {
		return Task{}, err
	}
	f, err := d.Load(ctx, StreamOf(c.Workspace, id), true)
	if err != nil {
		return Task{}, err
	}
	if !f.State.Exists() || !d.Sees(c, f.State) {
		return Task{}, Unknown(id)
	}
	return Task{Task: f.State, Position: f.Head}, nil
}

// Unknown is said of tasks that are not there and of those that the caller may not see alike.
func Unknown(id string) error {
	return refusal.New(refusal.NotFound, "check the id; list tasks to see those you have a part in", "there is no task %s that you may see", id)
}

// Sees reports whether the caller has a part in the task: requested it, holds or held it, approves it, was offered or
// shared it. Those who may read anything see every task.
func (d *Docket) Sees(c caller.Caller, t task.Task) bool {
	if c.IsSystem() || identity.May(c.Role, identity.ReadAny) || t.Requester == c.String() {
		return true
	}
	return c.Agent() != "" && slices.Contains(t.Involved, c.Agent())
}

// Holds reports whether the caller, who sees the task, has more to do with it than an offer or a share: it requested the
// task, holds, held or approves it, or may read anything.
func Holds(c caller.Caller, t task.Task) bool {
	name, h := c.Agent(), t.Handoff
	held := func(v event.Visit) bool { return v.Agent == name }
	return name == "" || t.Requester == c.String() || t.Owner == name || slices.ContainsFunc(t.Path, held) || h != nil && h.Approver == name
}

// MayRead reports whether the caller may read what a task's envelopes say: who holds it in one way or another, the
// receiver of an open offer that is no claim, and those it was shared with.
func (d *Docket) MayRead(ctx context.Context, c caller.Caller, id string) (bool, error) {
	f, err := d.Load(ctx, StreamOf(c.Workspace, id), true)
	t, name := f.State, c.Agent()
	if err != nil || !t.Exists() || !d.Sees(c, t) {
		return false, err
	}
	h := t.InFlight()
	offered := h != nil && h.Stage == event.Offered && !h.Claim && slices.Contains(h.To, name)
	shared := slices.ContainsFunc(t.Shares, func(s task.Share) bool { return s.To == name })
	return Holds(c, t) || offered || shared, nil
}

// touches reports whether a caller may try a command on the task at all. Beyond those who see it, an agent that was a
// candidate may be told that its offer is over.
func (d *Docket) touches(c caller.Caller, t task.Task) bool {
	if d.Sees(c, t) {
		return true
	}
	h := t.Handoff
	return h != nil && slices.ContainsFunc(h.Candidates, func(k event.Candidate) bool { return k.Agent == c.Agent() })
}

// Whole reports whether the caller may read all that a task's envelopes say: its owner, its requester, who approves it,
// and those who may read anything.
func Whole(c caller.Caller, t task.Task) bool {
	name := c.Agent()
	return name == "" || t.Owner == name || t.Requester == c.String() || t.Handoff != nil && t.Handoff.Approver == name
}
