package tickets

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
)

// TicketsInput narrows a list of tickets.
type TicketsInput struct {
	view.TicketFilter
}

// preview is how many bytes of a question a list shows.
const preview = 500

// List lists the tickets that the caller may see, the oldest first, with the beginning of their questions and without
// their answers. On the first page of those that are not closed, if it leaves tickets out, who asks for them takes turns, and on from page to page. It is
// recorded as one read.
func (ts *Tickets) List(ctx context.Context, c caller.Caller, in TicketsInput) (view.TicketList, error) {
	if err := c.May(identity.ReadOwn, "list tickets"); err != nil {
		return view.TicketList{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "list-tickets", "", err)
	}
	if in.Limit < 0 || in.Limit > view.MaxPage {
		return view.TicketList{}, refusal.New(refusal.Invalid, "use 1 to 500", "a limit of %d is out of range", in.Limit)
	}
	s, err := desk.ReaderOf(ctx, ts.agents, c)
	if err != nil {
		return view.TicketList{}, err
	}
	f := in.TicketFilter
	if !s.All {
		f.Involving, f.Serves = c.Name, s.Serves
	}
	list, err := ts.page(ctx, c, f)
	if err != nil {
		return view.TicketList{}, stream.Unavailable(err)
	}
	ids := make([]string, len(list.Tickets))
	for i := range list.Tickets {
		k := &list.Tickets[i]
		ids[i] = k.ID
		k.Question, k.Options, k.Answer, k.Detail = refusal.Clip(k.Question, preview), nil, "", ""
	}
	return list, ts.access.ReadList(ctx, c.Workspace, c.Actor(), "list of tickets", ids)
}

// page is a page of a list: in turn if it is the first of what waits for people.
func (ts *Tickets) page(ctx context.Context, c caller.Caller, f view.TicketFilter) (list view.TicketList, err error) {
	waits := f.Live || f.State == event.TicketStateOpen || f.State == event.TicketStateClaimed
	if !waits || f.After != "" || f.Task != "" {
		list.Tickets, err = ts.views.Tickets(ctx, c.Workspace, f)
		if n := len(list.Tickets); n > 0 && n == view.PageSize(f.Limit) {
			list.Next = list.Tickets[n-1].ID
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
