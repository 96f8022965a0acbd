package taskstore

import (
	"context"
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
	"github.com/trapezehq/trapeze/internal/usecase/presence"
)

// Kind is the kind of tasks' streams.
const Kind = ledger.TaskKind

// StreamOf is the stream of a task.
func StreamOf(workspace, id string) ledger.Stream { return ledger.StreamOf(workspace, Kind, id) }

// Store is the tasks of a ledger, as use cases reach them. Its methods are safe for many goroutines.
type Store struct {
	stream.Kind[task.Task, event.Event]
	ledger   ledger.Ledger
	access   *access.Log
	presence *presence.Presence
	check    func(task.Task) error
	hooks    *hooks
}

type hooks struct {
	decided func(ctx context.Context, workspace string, t task.Task, events []event.Event) error
	spawned func(ctx context.Context, c caller.Caller, parent string, at ledger.Position) error
}

// OnSpawned sets what creates the children that an entry of a parent has recorded, before the caller is told of them. Call it before the first change.
func (s *Store) OnSpawned(f func(ctx context.Context, c caller.Caller, parent string, at ledger.Position) error) {
	s.hooks.spawned = f
}

// OnDecided sets what may refuse the events that a caller other than the server has decided on a task, before they are recorded. Call it
// before the first change.
func (s *Store) OnDecided(f func(ctx context.Context, workspace string, t task.Task, events []event.Event) error) {
	s.hooks.decided = f
}

// New returns the tasks of a ledger. presence is told of every caller that works; at most cached folds are kept in memory.
// far and run are those of [stream.Options].
func New(l ledger.Ledger, log *access.Log, p *presence.Presence, now func() time.Time, cached int, far bool, run func(func())) (*Store, error) {
	tasks, err := stream.New(Kind, l, task.Fold, now, event.Events, stream.Options[task.Task, event.Event]{
		Cached: cached, Weigh: (*task.Task).Weight, Ended: func(t *task.Task) bool { return t.State.Final() }, Far: far, InPlace: (*task.Task).Apply, Run: run,
	})
	if err != nil {
		return nil, err
	}
	return &Store{Kind: tasks, ledger: l, access: log, presence: p, hooks: &hooks{}}, nil
}

// Provided is the same tasks, where every decision on a task is refused if check refuses the task as it is when the decision
// is made.
func (s *Store) Provided(check func(task.Task) error) *Store {
	own := *s
	own.check = check
	return &own
}

// Task is a task as its fold has it.
type Task struct {
	task.Task
	Position ledger.Position
}

// Find is a fresh read of a task, for any caller; the zero task for one that is not there.
func (s *Store) Find(ctx context.Context, workspace, id string) (task.Task, error) {
	f, err := s.Load(ctx, StreamOf(workspace, id), true)
	return f.State, err
}

// Change makes one decision on a task by a command of the rules. What the caller may not even see is not found.
func (s *Store) Change(ctx context.Context, c caller.Caller, verb, taskID string, in any, cmd handoff.Command) (Receipt, error) {
	return s.ChangeWith(ctx, c, verb, taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		return handoff.Decide(t, cmd, now)
	})
}

// ChangeWith is [Store.Change] for use cases whose command depends on the task or the time, or that give more than one.
func (s *Store) ChangeWith(ctx context.Context, c caller.Caller, verb, taskID string, in any,
	decide func(task.Task, time.Time) ([]event.Event, error),
) (Receipt, error) {
	out, err := s.Decide(ctx, c, verb, taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		if !t.Exists() || !s.touches(c, t) {
			return nil, Unknown(taskID)
		}
		return decide(t, now)
	})
	if err != nil {
		return Receipt{}, s.access.Refused(ctx, c.Workspace, c.Actor(), verb, taskID, err)
	}
	return s.Receipt(ctx, c, out), nil
}

// Decide is one decision on a task by a caller who may act, about whether the caller has a part in it or not. A refusal is for
// the caller of Decide to record.
func (s *Store) Decide(ctx context.Context, c caller.Caller, verb, taskID string, in any,
	decide func(task.Task, time.Time) ([]event.Event, error),
) (stream.Outcome[task.Task], error) {
	if ledger.IsForRead(ctx) {
		c.Archived = nil // it notes a read
	}
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
	s.presence.Note(c)
	return s.Do(ctx, c.Write(request), StreamOf(c.Workspace, taskID), func(t task.Task, now time.Time) ([]event.Event, error) {
		if s.check != nil {
			if err := s.check(t); err != nil {
				return nil, err
			}
		}
		events, err := decide(t, now)
		if err == nil {
			err = s.Admits(ctx, c, t, events)
		}
		return events, told(t, c.Agent(), err)
	})
}

// Admits refuses events that a caller has decided on a task, if they would fill the inbox of another: see [Store.OnDecided].
func (s *Store) Admits(ctx context.Context, c caller.Caller, t task.Task, events []event.Event) error {
	if s.hooks.decided == nil || c.IsSystem() {
		return nil
	}
	return s.hooks.decided(ctx, c.Workspace, t, events)
}

// For is a fresh read of a task that the caller may see. A refusal is for the caller of For to record.
func (s *Store) For(ctx context.Context, c caller.Caller, id string) (Task, error) {
	if err := c.May(identity.ReadOwn, "read a task"); err != nil {
		return Task{}, err
	}
	if err := event.CheckTaskID(id); err != nil {
		return Task{}, err
	}
	f, err := s.Load(ctx, StreamOf(c.Workspace, id), true)
	if err != nil {
		return Task{}, err
	}
	if !f.State.Exists() || !s.Sees(c, f.State) {
		return Task{}, Unknown(id)
	}
	return Task{Task: f.State, Position: f.Head}, nil
}

// Unknown is said of tasks that are not there and of those that the caller may not see alike.
func Unknown(id string) error {
	return refusal.New(refusal.NotFound, "check the id; [list tasks](task list) to see those you have a part in", "there is no task %s that you may see", id)
}
