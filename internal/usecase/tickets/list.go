package tickets

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// TicketsInput narrows a list of tickets.
type TicketsInput struct {
	view.TicketFilter
}

// preview is how many bytes of a question a list shows.
const preview = 500

// List lists the tickets that the caller may see, the oldest first, with the beginning of their questions and without
// their answers. It is recorded as one read.
func (ts *Tickets) List(ctx context.Context, c caller.Caller, in TicketsInput) ([]view.TicketRow, error) {
	if err := c.May(identity.ReadOwn, "list tickets"); err != nil {
		return nil, ts.access.Refused(ctx, c.Workspace, c.Actor(), "list-tickets", "", err)
	}
	if in.Limit < 0 || in.Limit > view.MaxPage {
		return nil, refusal.New(refusal.Invalid, "use 1 to 500", "a limit of %d is out of range", in.Limit)
	}
	s, err := ts.standingOf(ctx, c)
	if err != nil {
		return nil, err
	}
	f := in.TicketFilter
	if !s.all {
		f.Involving, f.Serves = c.Name, s.serves
	}
	list, err := ts.views.Tickets(ctx, c.Workspace, f)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	ids := make([]string, len(list))
	for i := range list {
		k := &list[i]
		ids[i] = k.ID
		k.Question, k.Options, k.Answer, k.Detail = refusal.Clip(k.Question, preview), nil, "", ""
	}
	return list, ts.access.ReadList(ctx, c.Workspace, c.Actor(), "list of tickets", ids)
}
