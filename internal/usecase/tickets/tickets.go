package tickets

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Agents are the agents of a ledger.
type Agents interface {
	// Find is an agent as it is registered, by its name or identity; the zero state of one that is not.
	Find(ctx context.Context, workspace, name string, fresh bool) (agent.State, error)
}

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
	agents Agents
	desks  Desks
	sealer Sealer
	turns  *quota.Turns
}

// New returns the use cases of the tickets of tasks, and of the views that follow them.
func New(tasks *taskstore.Store, v view.Store, log *access.Log, a Agents, d Desks, s Sealer, q *quota.Turns) *Tickets {
	return &Tickets{tasks: tasks, views: v, access: log, agents: a, desks: d, sealer: s, turns: q}
}

// standing is what a caller is to a desk.
type standing struct {
	name   string   // of the agent that calls; empty for others
	all    bool     // may see every ticket
	here   bool     // the caller is a person at the client of the agent
	person string   // under which name the caller may own a task as a person; empty: under none
	serves []string // desks
}

// standingOf is what the caller is: an operator, a person who serves desks, or an agent.
func (ts *Tickets) standingOf(ctx context.Context, c caller.Caller) (standing, error) {
	if c.Through != "" {
		return standing{name: c.Through, here: true}, nil
	}
	s := standing{name: c.Agent(), all: identity.May(c.Role, identity.ReadAny)}
	if c.IsSystem() {
		return s, nil
	}
	known, err := ts.agents.Find(ctx, c.Workspace, c.Name, false) // an operator may have an agent of the same name
	if err != nil || known.Removed || known.Spec.Kind != agent.KindHuman {
		return s, err
	}
	s.person = known.Name
	if s.name != "" {
		s.serves = known.Spec.Capabilities
	}
	return s, nil
}

// sees reports whether a ticket is the caller's business.
func (s standing) sees(c caller.Caller, t task.Task, k task.Ticket) bool {
	asks := strings.TrimPrefix(k.By, "agent/")
	switch {
	case s.here:
		return askedBy(s.name, t, k)
	case s.all:
		return true
	case t.Requester == c.String():
		return true
	case s.name == "":
		return false
	case s.name == asks, s.name == k.To, s.name == k.ClaimedBy, s.name == t.Owner && k.N > t.Withheld.Tickets:
		return true
	}
	return k.To == "" && k.Kind != event.TicketApproval && slices.Contains(s.serves, k.Desk)
}

// unknown is said of tickets that are not there and of those that the caller may not see alike.
func unknown(id string) error {
	return refusal.New(refusal.NotFound, "check the id: a task shows its ticket, and an inbox what was asked of you", "there is no ticket %s that you may see", id)
}

// act makes one decision on the task of a ticket that the caller may see.
func (ts *Tickets) act(ctx context.Context, c caller.Caller, verb, id string, in any,
	decide func(t task.Task, n int, s standing, now time.Time) ([]event.Event, error),
) (taskstore.Receipt, error) {
	taskID, n, err := event.ParseTicketID(id)
	var s standing
	if err == nil {
		s, err = ts.standingOf(ctx, c)
	}
	if err != nil {
		return taskstore.Receipt{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), verb, id, err)
	}
	out, err := ts.tasks.Decide(ctx, c, verb, taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		k := t.Ticket
		if k == nil || n > k.N || n < k.N && (s.here || !ts.tasks.Sees(c, t)) || n == k.N && !s.sees(c, t, *k) {
			return nil, unknown(id)
		}
		if s.here {
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
