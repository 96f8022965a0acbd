package tickets

import (
	"context"
	"fmt"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
)

// TicketsInput narrows a list of tickets.
type TicketsInput struct {
	view.TicketFilter
	// Mine leaves out the tickets that others have claimed.
	Mine bool
	// Count asks for how many tickets there are on all pages.
	Count bool
	// Whole asks for all that a ticket says: its question, options, answer and detail.
	Whole bool
}

// preview is how many bytes of a question a list shows.
const preview = 500

// List lists the tickets that the caller may see, the oldest first unless the filter has another order, with the beginning of their questions and without
// their answers, or with all that they say if that is asked for. On the first page of those that are not closed, if it leaves tickets out, who asks for them takes turns, and on from page to page; by due time,
// turns are of a fourth of the page. It is recorded as one read.
func (ts *Tickets) List(ctx context.Context, c caller.Caller, in TicketsInput) (List, error) {
	if err := c.May(identity.ReadOwn, "list tickets"); err != nil {
		return List{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "list-tickets", "", err)
	}
	s, err := desk.ReaderOf(ctx, ts.agents, c)
	if err != nil {
		return List{}, err
	}
	f, err := filterOf(c, s, in)
	if err != nil {
		return List{}, err
	}
	list, err := ts.page(ctx, c, f)
	if err == nil && in.Count {
		list.Count, err = ts.views.TicketCount(ctx, c.Workspace, f)
	}
	if err != nil {
		return List{}, stream.Unavailable(err)
	}
	ids, closed := make([]string, len(list.Tickets)), false
	for i := range list.Tickets {
		k := &list.Tickets[i]
		closed = closed || k.State == event.TicketStateClosed
		if ids[i] = k.ID; in.Whole {
			continue
		}
		k.Question, k.Options, k.Answer, k.Detail = refusal.Clip(k.Question, preview), nil, "", ""
	}
	all, err := ts.seen(ctx, c, s, list.Tickets...)
	if err != nil {
		return List{}, err
	}
	return List{all, list.Count, list.Next}, ts.readList(ctx, c, in.Whole, closed, ids)
}

// readList records that the caller gets a list of tickets. One with answers is recorded each time: the same list had none of them a moment ago.
func (ts *Tickets) readList(ctx context.Context, c caller.Caller, whole, closed bool, ids []string) error {
	switch {
	case !whole:
		return ts.access.ReadList(ctx, c.Workspace, c.Actor(), "list of tickets", ids)
	case closed:
		return ts.access.ReadAll(ctx, c.Workspace, c.Actor(), "", "list of whole tickets", ids)
	}
	return ts.access.ReadList(ctx, c.Workspace, c.Actor(), "list of whole tickets", ids)
}

// filterOf is which tickets a list has, of those that the caller may see.
func filterOf(c caller.Caller, s desk.Reader, in TicketsInput) (view.TicketFilter, error) {
	f := in.TicketFilter
	waits := f.Live || f.State == event.TicketStateOpen || f.State == event.TicketStateClaimed
	if err := view.CheckLimit(f.Limit); err != nil {
		return f, err
	}
	switch {
	case in.Whole && f.Limit > access.MaxListed:
		return f, refusal.New(refusal.Invalid, fmt.Sprintf("use a limit of at most %d", access.MaxListed), "%d whole tickets are too many: the record names each that is read", f.Limit).With("field", "limit")
	case f.Order == view.TicketsByDue && !waits:
		return f, refusal.New(refusal.Invalid, "omit all and state, or use state=open or state=claimed", "closed tickets have no order of due time")
	case f.Order == view.TicketsByClosed && f.State != event.TicketStateClosed:
		return f, refusal.New(refusal.Invalid, "use state=closed", "only closed tickets have an order of closing time")
	}
	if !s.All {
		f.Involving, f.Serves = c.Name, s.Serves
	}
	if in.Mine {
		f.Claimants = slices.DeleteFunc([]string{c.String(), s.Name, s.Person}, func(name string) bool { return name == "" })
	}
	return f, nil
}

// page is a page of a list: in turn if it is the first of what waits for people.
func (ts *Tickets) page(ctx context.Context, c caller.Caller, f view.TicketFilter) (list view.TicketList, err error) {
	waits := f.Live || f.State == event.TicketStateOpen || f.State == event.TicketStateClaimed
	if !waits || !f.After.IsZero() || f.Task != "" {
		list.Tickets, err = ts.views.Tickets(ctx, c.Workspace, f)
		if n := len(list.Tickets); n > 0 && n == view.PageSize(f.Limit) {
			list.Next = f.After.Next(&list.Tickets[n-1], f.Order)
		}
		return list, err
	}
	reader := "tickets of " + c.Actor().Principal // no inbox has this name
	list, err = ts.views.TicketsInTurn(ctx, c.Workspace, f, ts.turns.Of(c.Workspace, reader))
	if err == nil {
		ts.turns.Take(c.Workspace, reader, list.Taken)
	}
	return list, err
}
