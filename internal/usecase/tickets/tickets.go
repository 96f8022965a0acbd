package tickets

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Desks are the desks of people.
type Desks interface {
	// Staffed refuses a desk that nobody serves.
	Staffed(ctx context.Context, workspace, desk string) error
}

// Sealer makes envelopes.
type Sealer interface {
	// ToPerson seals what a person needs who takes a task over from a desk.
	ToPerson(ctx context.Context, workspace string, t task.Task, to string, reason event.Reason, detail string, now time.Time) (event.Sealed, error)
}

// Tickets is the use cases of tickets. Its methods are safe for many goroutines.
type Tickets struct {
	tasks  *taskstore.Store
	views  view.Store
	access *access.Log
	agents desk.Agents
	desks  Desks
	sealer Sealer
	turns  *quota.Turns
	now    func() time.Time
}

// New returns the use cases of the tickets of tasks, and of the views that follow them.
func New(tasks *taskstore.Store, v view.Store, log *access.Log, a desk.Agents, d Desks, s Sealer, q *quota.Turns, now func() time.Time) *Tickets {
	return &Tickets{tasks: tasks, views: v, access: log, agents: a, desks: d, sealer: s, turns: q, now: now}
}

// unknown is said of tickets that are not there and of those that the caller may not see alike.
func unknown(id string) error {
	return refusal.New(refusal.NotFound, "check the id: [a task shows its ticket](task show), and [an inbox](inbox) what was asked of you", "there is no ticket %s that you may see", id)
}

// act makes one decision on the task of a ticket that the caller may see.
func (ts *Tickets) act(ctx context.Context, c caller.Caller, verb, id string, in any,
	decide func(t task.Task, n int, s desk.Reader, now time.Time) ([]event.Event, error),
) (taskstore.Receipt, error) {
	taskID, n, err := event.ParseTicketID(id)
	var s desk.Reader
	if err == nil {
		s, err = desk.ReaderOf(ctx, ts.agents, c)
	}
	if err != nil {
		return taskstore.Receipt{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), verb, id, err)
	}
	out, err := ts.tasks.Decide(ctx, c, verb, taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		k := t.Ticket
		if k == nil || n > k.N || n < k.N && (s.Here || !ts.tasks.Sees(c, t)) || n == k.N && !s.Sees(t, *k) {
			return nil, unknown(id)
		}
		if s.Here {
			if err := ts.requireAskedHere(ctx, c, t, *k); err != nil {
				return nil, err
			}
		}
		return decide(t, n, s, now)
	})
	if err != nil {
		return taskstore.Receipt{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), verb, id, err)
	}
	r := ts.tasks.Receipt(ctx, c, out)
	r.Ticket = id
	if !ts.tasks.Sees(c, *out.State) { // a caller without a part in the task gets the short form
		r = taskstore.Receipt{Task: r.Task, State: r.State, Ticket: id, Position: r.Position, Events: r.Events, Repeat: r.Repeat}
	}
	return r, nil
}
