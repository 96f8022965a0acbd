package tickets

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff/ticketverb"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// TicketRow is a ticket as a caller sees it, with what the caller may do with it.
type TicketRow struct {
	view.TicketRow
	Verbs []ticketverb.Verb `json:"verbs,omitempty" doc:"What you may do with it now. To withdraw it, call deny."`
	Epoch uint64            `json:"epoch,omitempty" doc:"Of the task, while the ticket is open: name it when you release a task that you took over, or withdraw the ticket."`
}

// List is the first page of a list of tickets.
type List struct {
	Tickets []TicketRow
	Count   int // of all pages, if it is asked for
	Next    view.TicketCursor
}

func readerOf(c caller.Caller, s desk.Reader) ticketverb.Reader {
	return ticketverb.Reader{By: c.Principal, Serves: s.Serves, Agent: s.Person}
}

// seen are tickets as the caller sees them. Only the tasks of open ones are looked at.
func (ts *Tickets) seen(ctx context.Context, c caller.Caller, s desk.Reader, rows ...view.TicketRow) ([]TicketRow, error) {
	all, now := make([]TicketRow, len(rows)), ts.now()
	for i, k := range rows {
		all[i].TicketRow = k
		if k.State == event.TicketStateClosed {
			continue
		}
		of := taskstore.StreamOf(c.Workspace, k.Task)
		f, err := ts.tasks.Load(ctx, of, false)
		if err == nil && f.Head < k.At { // another server has changed it
			f, err = ts.tasks.Load(ctx, of, true)
		}
		if err != nil {
			return nil, err
		}
		if open := f.State.OpenTicket(); open != nil && open.N == k.N {
			all[i].Verbs, all[i].Epoch = ticketverb.Of(f.State, readerOf(c, s), now), f.State.Epoch
		}
	}
	return all, nil
}
