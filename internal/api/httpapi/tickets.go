package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

// TicketPage is one page of a list of tickets, the oldest first.
type TicketPage struct {
	Tickets  []view.Ticket `json:"tickets" doc:"With the beginning of their questions, and without answers."`
	Next     string        `json:"next,omitempty" doc:"The parameter after of the next page; absent at the end."`
	Position uint64        `json:"position" doc:"Up to which the list is complete."`
}

// At implements [endpoint.Placed].
func (p TicketPage) At() uint64 { return p.Position }

// Ticket is one ticket, whole.
type Ticket struct {
	view.Ticket
}

// At implements [endpoint.Placed].
func (t Ticket) At() uint64 { return uint64(t.Ticket.At) }

type ticketsQuery struct {
	endpoint.Reading
	endpoint.Page
	State event.TicketState `query:"state" doc:"Only tickets in this state."`
	All   bool              `query:"all" doc:"Closed ones too."`
	Kind  event.TicketKind  `query:"kind" doc:"Only tickets of this kind."`
	Desk  string            `query:"desk" maxLength:"64" doc:"Only tickets of this desk."`
	Task  string            `query:"task" maxLength:"40" doc:"Only tickets of this task."`
}

type ticketQuery struct {
	endpoint.ReadingID
	Wait string `query:"wait" maxLength:"20" doc:"How long to wait until it is closed, such as 30s; at most 55s." example:"30s"`
}

// atClient says how a person's word comes through an agent's client.
const atClient = "With the header " + endpoint.PersonHeader + ", which names the person that an agent's token names, it counts as that person's word."

// tickets hangs the routes of tickets.
func (s *service) tickets() {
	d := s.door
	one := func(verb, id, summary, about string) endpoint.Route {
		return endpoint.Route{Method: http.MethodPost, Path: "/v1/tickets/{id}/" + verb, ID: id, Summary: summary, About: about, Tag: endpoint.TagTickets}
	}
	endpoint.Change(d, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/tasks/{id}/ask", ID: "ask", Summary: "Ask people a question, as the task's owner",
		About: "The answer to this call has the ticket's id at once. The task waits, without a lease, and goes on with the same owner and epoch when " +
			"there is an answer, or when nobody has answered in time. Wait for it at the ticket, call by call.", Tag: endpoint.TagTickets,
	}, func(ctx context.Context, c tasks.Caller, id string, in tickets.AskInput) (taskstore.Receipt, error) {
		in.Task = id
		return s.app.Ask(ctx, c, in)
	})
	endpoint.Read(d, endpoint.Route{
		Path: "/v1/tickets", ID: "list-tickets", Summary: "List the tickets that you may see, the oldest first",
		About: "Those that are open or claimed, unless you ask for others. People see those of the desks that they serve.", Tag: endpoint.TagTickets,
	}, s.listTickets)
	endpoint.Read(d, endpoint.Route{
		Path: "/v1/tickets/{id}", ID: "show-ticket", Summary: "Show a ticket, and wait for its end", About: "The read is on record.", Tag: endpoint.TagTickets,
	}, s.showTicket)
	endpoint.Change(d, one("claim", "claim", "Take a ticket on", "Others leave it alone then. The task of a takeover becomes yours."),
		func(ctx context.Context, c tasks.Caller, id string, in tickets.ClaimInput) (taskstore.Receipt, error) {
			in.ID = id
			return s.app.Claim(ctx, c, in)
		})
	endpoint.Change(d, one("release", "release", "Give a claimed ticket back to its desk", "A task that you have taken over waits there again."),
		func(ctx context.Context, c tasks.Caller, id string, in tickets.ReleaseInput) (taskstore.Receipt, error) {
			in.ID = id
			return s.app.Release(ctx, c, in)
		})
	endpoint.Change(d, one("answer", "answer", "Answer a question", "The task's owner goes on with it. "+atClient),
		func(ctx context.Context, c tasks.Caller, id string, in tickets.AnswerInput) (taskstore.Receipt, error) {
			in.ID = id
			return s.app.Answer(ctx, c, in)
		})
	endpoint.Change(d, one("approve", "approve-ticket", "Let a supervised handoff go on", "The same as approving the handoff. "+atClient),
		func(ctx context.Context, c tasks.Caller, id string, in tasks.ApproveInput) (taskstore.Receipt, error) {
			if _, _, err := event.ParseTicketID(id); err != nil {
				return taskstore.Receipt{}, err
			}
			in.ID = id
			return s.app.Approve(ctx, c, in)
		})
	endpoint.Change(d, one("deny", "deny-ticket", "Say no to a ticket", "From whoever asked, it takes the question or the task back. "+atClient),
		func(ctx context.Context, c tasks.Caller, id string, in tasks.DenyInput) (taskstore.Receipt, error) {
			if _, _, err := event.ParseTicketID(id); err != nil {
				return taskstore.Receipt{}, err
			}
			in.ID = id
			return s.app.Deny(ctx, c, in)
		})
}

func (s *service) listTickets(ctx context.Context, c tasks.Caller, in *ticketsQuery) (TicketPage, error) {
	f := view.TicketFilter{
		State: in.State, Live: in.State == "" && !in.All, Kind: in.Kind, Desk: in.Desk, Task: in.Task,
		After: in.Page.After, Limit: in.Limit,
	}
	position := uint64(s.app.Views().Position()) // before the list, so that the list has no less
	list, err := s.app.Tickets(ctx, c, tickets.TicketsInput{TicketFilter: f})
	p := TicketPage{Tickets: endpoint.NotNil(list), Position: position}
	limit := in.Limit
	if limit == 0 {
		limit = endpoint.UsualPage
	}
	if len(list) == limit {
		p.Next = list[len(list)-1].ID
	}
	return p, err
}

func (s *service) showTicket(ctx context.Context, c tasks.Caller, in *ticketQuery) (Ticket, error) {
	var wait event.Duration
	if in.Wait != "" {
		if err := wait.UnmarshalText([]byte(in.Wait)); err != nil {
			return Ticket{}, err
		}
	}
	if wait > 0 {
		endpoint.Patient(ctx)
	}
	k, err := s.app.Ticket(ctx, c, tickets.TicketInput{ID: in.ID, Wait: time.Duration(wait)})
	if err == nil && wait > 0 {
		err = endpoint.Still(ctx)
	}
	return Ticket{k}, err
}
