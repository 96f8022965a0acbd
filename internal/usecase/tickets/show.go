package tickets

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// MaxWait is the longest that a call may wait for the end of a ticket: shorter than the usual client timeouts.
const MaxWait = 55 * time.Second

// TicketInput asks for one ticket.
type TicketInput struct {
	ID   string
	Wait time.Duration // until it is closed; 0: not at all
}

// Show returns a ticket that the caller may see, and waits for its end if asked to: the ticket is then as it is when the
// wait is over, closed or not. It is a fresh read, and is recorded.
func (ts *Tickets) Show(ctx context.Context, c caller.Caller, in TicketInput) (TicketRow, error) {
	k, err := ts.waitFor(ctx, c, in)
	if err != nil {
		return TicketRow{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "show-ticket", in.ID, err)
	}
	return k, ts.access.ReadAll(ctx, c.Workspace, c.Actor(), k.Task, "ticket", []string{k.ID})
}

func (ts *Tickets) waitFor(ctx context.Context, c caller.Caller, in TicketInput) (TicketRow, error) {
	if in.Wait < 0 || in.Wait > MaxWait {
		return TicketRow{}, refusal.New(refusal.Invalid, "use 0s to 55s and call again when it is over", "a wait of %s is out of range", in.Wait).With("field", "wait")
	}
	task, _, err := event.ParseTicketID(in.ID)
	if err != nil {
		return TicketRow{}, err
	}
	changed, stop := ts.views.WatchTask(c.Workspace, task) // before the first look, so that nothing comes in between
	defer stop()
	deadline := time.NewTimer(in.Wait)
	defer deadline.Stop()
	for late := in.Wait == 0; ; {
		k, err := ts.find(ctx, c, in.ID)
		if err != nil || late || k.State == event.TicketStateClosed {
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
func (ts *Tickets) find(ctx context.Context, c caller.Caller, id string) (TicketRow, error) {
	if err := c.May(identity.ReadOwn, "read a ticket"); err != nil {
		return TicketRow{}, err
	}
	task, n, err := event.ParseTicketID(id)
	if err != nil {
		return TicketRow{}, err
	}
	s, err := desk.ReaderOf(ctx, ts.agents, c)
	if err != nil {
		return TicketRow{}, err
	}
	f, err := ts.tasks.Load(ctx, taskstore.StreamOf(c.Workspace, task), true)
	if err != nil {
		return TicketRow{}, err
	}
	t := f.State
	if t.Ticket == nil || n > t.Ticket.N {
		return TicketRow{}, unknown(id)
	}
	if err := ts.views.Wait(ctx, f.Head); err != nil {
		return TicketRow{}, stream.Unavailable(err)
	}
	k, found, err := ts.views.Ticket(ctx, c.Workspace, id)
	if err != nil {
		return TicketRow{}, stream.Unavailable(err)
	}
	if !found || !s.Sees(t, k.Ticket) {
		return TicketRow{}, unknown(id)
	}
	all, err := ts.seen(ctx, c, s, k)
	if err != nil {
		return TicketRow{}, err
	}
	return all[0], nil
}
