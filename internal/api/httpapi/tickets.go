package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/positions"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

// TicketPage is one page of a list of tickets.
type TicketPage struct {
	Tickets []tickets.TicketRow `json:"tickets" doc:"With the beginning of each question, and without answers."`
	Next    string              `json:"next,omitempty" doc:"Parameter after for the next page; absent on the last page."`
	Count   *int                `json:"count,omitempty" doc:"With counts: how many tickets there are on all pages."`
	endpoint.Listed
}

// Ticket is one ticket with all fields.
type Ticket struct {
	tickets.TicketRow
}

// At implements [endpoint.Placed].
func (t Ticket) At() positions.Position { return t.TicketRow.At }

type ticketsQuery struct {
	endpoint.Reading
	Limit int               `query:"limit" minimum:"1" maximum:"500" doc:"Maximum number; 50 if omitted."`
	After string            `query:"after" maxLength:"40000" doc:"Field next of the previous page, or the id of a ticket."`
	State event.TicketState `query:"state" doc:"Only tickets in this state."`
	All   bool              `query:"all" doc:"Include closed tickets."`
	Kind  event.TicketKind  `query:"kind" doc:"Only tickets of this kind."`
	Desk  string            `query:"desk" maxLength:"64" doc:"Only tickets of this desk."`
	Task  string            `query:"task" maxLength:"40" doc:"Only tickets of this task."`

	Mine   bool             `query:"mine" doc:"Leave out tickets that others have claimed."`
	Order  view.TicketOrder `query:"order" doc:"opened (the default): the oldest first. due: open and claimed tickets, those that are due first before others. closed: with state=closed, those that were closed last before others."`
	Counts bool             `query:"counts" doc:"Also count the tickets on all pages."`
	Whole  bool             `query:"whole" doc:"With whole questions, options, answers and details, which is recorded as a read of each; then the limit is at most 100."`
}

type ticketQuery struct {
	endpoint.ReadingID
	Wait string `query:"wait" maxLength:"20" doc:"How long to wait until the ticket is closed, such as 30s; at most 55s." example:"30s"`
}

// atClient describes how a person answers through the client of an agent.
const atClient = "With the header " + endpoint.PersonHeader + ", which must name the person in the token of the agent, the call counts as that person's."

// tickets adds the routes of tickets.
func (s *service) tickets() {
	d := s.router
	one := func(verb, id, summary, about string) endpoint.Route {
		return endpoint.Route{Method: http.MethodPost, Path: "/v1/tickets/{id}/" + verb, ID: id, Summary: summary, About: about, Tag: endpoint.TagTickets}
	}
	endpoint.Change(d, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/tasks/{id}/ask", ID: "ask", Summary: "Ask people a question about a task you own",
		About: "Returns the id of a ticket at once. The task waits, without a lease, and resumes with the same owner and epoch when " +
			"the ticket is answered or expires. To wait for the answer, call show-ticket with wait.", Tag: endpoint.TagTickets,
	}, endpoint.Under(func(in *tickets.AskInput) *string { return &in.Task }, s.app.Tickets.Ask))
	endpoint.Read(d, endpoint.Route{
		Path: "/v1/tickets", ID: "list-tickets", Summary: "List the tickets that you may see",
		About: "Open and claimed tickets, unless state or all selects others. People see the tickets of the desks that they serve. " +
			"If the first page of tickets that are not closed leaves some out, those who ask take turns, in the order of due of a fourth of the page each; " +
			"the pages after it have all that it left out, and nothing of it.", Tag: endpoint.TagTickets,
	}, s.listTickets)
	endpoint.Read(d, endpoint.Route{
		Path: "/v1/tickets/{id}", ID: "show-ticket", Summary: "Show a ticket, and optionally wait until it is closed", About: "The read is recorded.", Tag: endpoint.TagTickets,
	}, s.showTicket)
	endpoint.Change(d, one("claim", "claim", "Claim a ticket", "Others cannot answer it then. Claiming a takeover makes you the owner of its task."),
		endpoint.Under(func(in *tickets.ClaimInput) *string { return &in.ID }, s.app.Tickets.Claim))
	endpoint.Change(d, one("release", "release", "Release a claimed ticket to its desk", "A task that you took over waits there again."),
		endpoint.Under(func(in *tickets.ReleaseInput) *string { return &in.ID }, s.app.Tickets.Release))
	endpoint.Change(d, one("answer", "answer", "Answer a question", "The owner of the task continues with the answer. "+atClient),
		endpoint.Under(func(in *tickets.AnswerInput) *string { return &in.ID }, s.app.Tickets.Answer))
	endpoint.Change(d, one("approve", "approve-ticket", "Approve a supervised handoff by its ticket", "The same as approving the handoff."),
		checked(wellFormed(event.ParseTicketID), endpoint.Under(func(in *tasks.ApproveInput) *string { return &in.ID }, s.app.Tasks.Approve)))
	endpoint.Change(d, one("deny", "deny-ticket", "Deny a ticket", "If the caller opened the ticket, this withdraws the question or the takeover."),
		checked(wellFormed(event.ParseTicketID), endpoint.Under(func(in *tasks.DenyInput) *string { return &in.ID }, s.app.Tasks.Deny)))
}

func (s *service) listTickets(ctx context.Context, c caller.Caller, in *ticketsQuery) (TicketPage, error) {
	after, err := view.ParseTicketCursor(in.After)
	if err != nil {
		return TicketPage{}, err
	}
	f := view.TicketFilter{
		State: in.State, Live: in.State == "" && !in.All, Kind: in.Kind, Desk: in.Desk, Task: in.Task,
		Order: in.Order, After: after, Limit: in.Limit,
	}
	if in.Task != "" {
		if err := event.CheckTaskID(in.Task); err != nil {
			return TicketPage{}, err
		}
	}
	position := s.app.Positions.Viewed() // read before the list, which then has at least this position
	list, err := s.app.Tickets.List(ctx, c, tickets.TicketsInput{TicketFilter: f, Mine: in.Mine, Count: in.Counts, Whole: in.Whole})
	out := TicketPage{Tickets: endpoint.NotNil(list.Tickets), Next: list.Next.String(), Listed: endpoint.Listed{Position: position}}
	if in.Counts {
		out.Count = &list.Count
	}
	return out, err
}

func (s *service) showTicket(ctx context.Context, c caller.Caller, in *ticketQuery) (Ticket, error) {
	return patiently(ctx, s, in.Wait, func(ctx context.Context, wait time.Duration) (Ticket, error) {
		k, err := s.app.Tickets.Show(ctx, c, tickets.TicketInput{ID: in.ID, Wait: wait})
		return Ticket{k}, err
	})
}
