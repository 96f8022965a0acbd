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
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// MaxWait is the longest that a call may wait for the end of a ticket: shorter than the usual client timeouts.
const MaxWait = 55 * time.Second

// Sources are what tickets need of other rooms.
type Sources struct {
	// Known is an agent as the registry has it; the zero state of one that is not there.
	Known func(ctx context.Context, workspace, name string, fresh bool) (agent.State, error)
	// Staffed refuses a desk that nobody serves.
	Staffed func(ctx context.Context, workspace, desk string) error
	// Handover seals what a task's next owner needs where the present one writes nothing.
	Handover func(ctx context.Context, workspace string, t task.Task, to string, reason event.Reason, detail string, now time.Time) (event.Sealed, error)
}

// Desk is the tickets of one ledger. Its methods are safe for many goroutines.
type Desk struct {
	tasks  *taskstore.Docket
	views  view.Store
	access *access.Log
	from   Sources
}

// New returns the tickets of a docket and the views that follow it.
func New(tasks *taskstore.Docket, v view.Store, log *access.Log, from Sources) *Desk {
	return &Desk{tasks: tasks, views: v, access: log, from: from}
}

// standing is what a caller is to a desk.
type standing struct {
	name   string   // of the agent that calls; empty for others
	all    bool     // may see every ticket
	person string   // under which name the caller may own a task as a person; empty: under none
	serves []string // desks
}

// standingOf is what the caller is: an operator, a person who serves desks, or an agent.
func (d *Desk) standingOf(ctx context.Context, c caller.Caller) (standing, error) {
	s := standing{name: c.Agent(), all: identity.May(c.Role, identity.ReadAny)}
	if c.IsSystem() {
		return s, nil
	}
	known, err := d.from.Known(ctx, c.Workspace, c.Name, false) // an operator may have an agent of the same name
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
	case s.all:
		return true
	case t.Requester == c.String():
		return true
	case s.name == "":
		return false
	case s.name == asks, s.name == k.To, s.name == k.ClaimedBy, s.name == t.Owner:
		return true
	}
	return k.To == "" && k.Kind != event.TicketApproval && slices.Contains(s.serves, k.Desk)
}

// unknown is said of tickets that are not there and of those that the caller may not see alike.
func unknown(id string) error {
	return refusal.New(refusal.NotFound, "check the id: a task shows its ticket, and an inbox what was asked of you", "there is no ticket %s that you may see", id)
}

// TicketsInput narrows a list of tickets.
type TicketsInput struct {
	view.TicketFilter
}

// preview is how many bytes of a question a list shows.
const preview = 500

// Tickets lists the tickets that the caller may see, the oldest first, with the beginning of their questions and without
// their answers.
func (d *Desk) Tickets(ctx context.Context, c caller.Caller, in TicketsInput) ([]view.Ticket, error) {
	if err := c.May(identity.ReadOwn, "list tickets"); err != nil {
		return nil, d.access.Refused(ctx, c.Workspace, c.Actor(), "list-tickets", "", err)
	}
	if in.Limit < 0 || in.Limit > view.MaxPage {
		return nil, refusal.New(refusal.Invalid, "use 1 to 500", "a limit of %d is out of range", in.Limit)
	}
	s, err := d.standingOf(ctx, c)
	if err != nil {
		return nil, err
	}
	f := in.TicketFilter
	if !s.all {
		f.Involving, f.Serves = c.Name, s.serves
	}
	list, err := d.views.Tickets(ctx, c.Workspace, f)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	for i := range list {
		k := &list[i]
		k.Question, k.Options, k.Answer, k.Detail = refusal.Clip(k.Question, preview), nil, "", ""
	}
	return list, nil
}

// TicketInput asks for one ticket.
type TicketInput struct {
	ID   string
	Wait time.Duration // until it is closed; 0: not at all
}

// Ticket returns a ticket that the caller may see, and waits for its end if asked to: the ticket is then as it is when the
// wait is over, closed or not. It is a fresh read, and on record.
func (d *Desk) Ticket(ctx context.Context, c caller.Caller, in TicketInput) (view.Ticket, error) {
	k, err := d.waitFor(ctx, c, in)
	if err != nil {
		return view.Ticket{}, d.access.Refused(ctx, c.Workspace, c.Actor(), "show-ticket", in.ID, err)
	}
	return k, d.access.ReadAll(ctx, c.Workspace, c.Actor(), k.Task, "ticket", []string{k.ID})
}

func (d *Desk) waitFor(ctx context.Context, c caller.Caller, in TicketInput) (view.Ticket, error) {
	if in.Wait < 0 || in.Wait > MaxWait {
		return view.Ticket{}, refusal.New(refusal.Invalid, "use 0s to 55s and call again when it is over", "a wait of %s is out of range", in.Wait)
	}
	task, _, err := event.ParseTicketID(in.ID)
	if err != nil {
		return view.Ticket{}, err
	}
	changed, stop := d.views.WatchTask(c.Workspace, task) // before the first look, so that nothing comes in between
	defer stop()
	deadline := time.NewTimer(in.Wait)
	defer deadline.Stop()
	for late := in.Wait == 0; ; {
		k, err := d.find(ctx, c, in.ID)
		if err != nil || late || k.State == event.TicketOver {
			return k, err
		}
		select {
		case <-changed:
		case <-deadline.C:
			late = true
		case <-ctx.Done():
			return k, stream.Unavailable(ctx.Err())
		}
	}
}

// find is a fresh read of a ticket that the caller may see.
func (d *Desk) find(ctx context.Context, c caller.Caller, id string) (view.Ticket, error) {
	if err := c.May(identity.ReadOwn, "read a ticket"); err != nil {
		return view.Ticket{}, err
	}
	task, n, err := event.ParseTicketID(id)
	if err != nil {
		return view.Ticket{}, err
	}
	s, err := d.standingOf(ctx, c)
	if err != nil {
		return view.Ticket{}, err
	}
	f, err := d.tasks.Load(ctx, taskstore.StreamOf(c.Workspace, task), true)
	if err != nil {
		return view.Ticket{}, err
	}
	t := f.State
	if t.Ticket == nil || n > t.Ticket.N {
		return view.Ticket{}, unknown(id)
	}
	if err := d.views.Wait(ctx, f.Head); err != nil {
		return view.Ticket{}, stream.Unavailable(err)
	}
	k, found, err := d.views.Ticket(ctx, c.Workspace, id)
	if err != nil {
		return view.Ticket{}, stream.Unavailable(err)
	}
	if !found || !s.sees(c, t, k.Ticket) {
		return view.Ticket{}, unknown(id)
	}
	return k, nil
}
