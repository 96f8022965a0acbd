package desk

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/desk"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/surface/httpapi/door"
	"github.com/trapezehq/trapeze/internal/view"
)

// TicketPage is one page of a list of tickets, the oldest first.
type TicketPage struct {
	Tickets  []view.Ticket `json:"tickets" doc:"With the beginning of their questions, and without answers."`
	Next     string        `json:"next,omitempty" doc:"The parameter after of the next page; absent at the end."`
	Position uint64        `json:"position" doc:"Up to which the list is complete."`
}

// At implements [door.Placed].
func (p TicketPage) At() uint64 { return p.Position }

// Ticket is one ticket, whole.
type Ticket struct {
	view.Ticket
}

// At implements [door.Placed].
func (t Ticket) At() uint64 { return uint64(t.Ticket.At) }

type ticketsQuery struct {
	door.Reading
	door.Page
	State string `query:"state" enum:"open,claimed,closed" doc:"Only tickets in this state."`
	All   bool   `query:"all" doc:"Closed ones too."`
	Kind  string `query:"kind" enum:"approval,question,takeover" doc:"Only tickets of this kind."`
	Desk  string `query:"desk" maxLength:"64" doc:"Only tickets of this desk."`
	Task  string `query:"task" maxLength:"40" doc:"Only tickets of this task."`
}

type ticketQuery struct {
	door.ReadingID
	Wait string `query:"wait" maxLength:"20" doc:"How long to wait until it is closed, such as 30s; at most 55s." example:"30s"`
}

// routes are hung on a door and lead to the use cases.
type routes struct{ app *app.App }

// atClient says how a person's word comes through an agent's client.
const atClient = "With the header " + door.PersonHeader + ", which names the person that an agent's token names, it counts as that person's word."

// Routes hangs the routes of tickets on a door.
func Routes(d *door.Door, a *app.App) {
	s := &routes{a}
	one := func(verb, id, summary, about string) door.Route {
		return door.Route{Method: http.MethodPost, Path: "/v1/tickets/{id}/" + verb, ID: id, Summary: summary, About: about, Tag: door.TagTickets}
	}
	door.Change(d, door.Route{
		Method: http.MethodPost, Path: "/v1/tasks/{id}/ask", ID: "ask", Summary: "Ask people a question, as the task's owner",
		About: "The answer to this call has the ticket's id at once. The task waits, without a lease, and goes on with the same owner and epoch when " +
			"there is an answer, or when nobody has answered in time. Wait for it at the ticket, call by call.", Tag: door.TagTickets,
	}, func(ctx context.Context, c app.Caller, id string, in desk.AskInput) (docket.Receipt, error) {
		in.Task = id
		return s.app.Ask(ctx, c, in)
	})
	door.Read(d, door.Route{
		Path: "/v1/tickets", ID: "list-tickets", Summary: "List the tickets that you may see, the oldest first",
		About: "Those that are open or claimed, unless you ask for others. People see those of the desks that they serve.", Tag: door.TagTickets,
	}, s.list)
	door.Read(d, door.Route{
		Path: "/v1/tickets/{id}", ID: "show-ticket", Summary: "Show a ticket, and wait for its end", About: "The read is on record.", Tag: door.TagTickets,
	}, s.show)
	door.Change(d, one("claim", "claim", "Take a ticket on", "Others leave it alone then. The task of a takeover becomes yours."),
		func(ctx context.Context, c app.Caller, id string, in desk.ClaimInput) (docket.Receipt, error) {
			in.ID = id
			return s.app.Claim(ctx, c, in)
		})
	door.Change(d, one("release", "release", "Give a claimed ticket back to its desk", "A task that you have taken over waits there again."),
		func(ctx context.Context, c app.Caller, id string, in desk.ReleaseInput) (docket.Receipt, error) {
			in.ID = id
			return s.app.Release(ctx, c, in)
		})
	door.Change(d, one("answer", "answer", "Answer a question", "The task's owner goes on with it. "+atClient),
		func(ctx context.Context, c app.Caller, id string, in desk.AnswerInput) (docket.Receipt, error) {
			in.ID = id
			return s.app.Answer(ctx, c, in)
		})
	door.Change(d, one("approve", "approve-ticket", "Let a supervised handoff go on", "The same as approving the handoff. "+atClient),
		func(ctx context.Context, c app.Caller, id string, in app.ApproveInput) (docket.Receipt, error) {
			if _, _, err := fact.ParseTicketID(id); err != nil {
				return docket.Receipt{}, err
			}
			in.ID = id
			return s.app.Approve(ctx, c, in)
		})
	door.Change(d, one("deny", "deny-ticket", "Say no to a ticket", "From whoever asked, it takes the question or the task back. "+atClient),
		func(ctx context.Context, c app.Caller, id string, in app.DenyInput) (docket.Receipt, error) {
			if _, _, err := fact.ParseTicketID(id); err != nil {
				return docket.Receipt{}, err
			}
			in.ID = id
			return s.app.Deny(ctx, c, in)
		})
}

func (s *routes) list(ctx context.Context, c app.Caller, in *ticketsQuery) (TicketPage, error) {
	f := view.TicketFilter{
		State: fact.TicketState(in.State), Live: in.State == "" && !in.All, Kind: fact.TicketKind(in.Kind), Desk: in.Desk, Task: in.Task,
		After: in.Page.After, Limit: in.Limit,
	}
	position := uint64(s.app.Views().Position()) // before the list, so that the list has no less
	list, err := s.app.Tickets(ctx, c, desk.TicketsInput{TicketFilter: f})
	p := TicketPage{Tickets: door.NotNil(list), Position: position}
	limit := in.Limit
	if limit == 0 {
		limit = door.UsualPage
	}
	if len(list) == limit {
		p.Next = list[len(list)-1].ID
	}
	return p, err
}

func (s *routes) show(ctx context.Context, c app.Caller, in *ticketQuery) (Ticket, error) {
	var wait fact.Duration
	if in.Wait != "" {
		if err := wait.UnmarshalText([]byte(in.Wait)); err != nil {
			return Ticket{}, err
		}
	}
	if wait > 0 {
		door.Patient(ctx)
	}
	k, err := s.app.Ticket(ctx, c, desk.TicketInput{ID: in.ID, Wait: time.Duration(wait)})
	if err == nil && wait > 0 {
		err = door.Still(ctx)
	}
	return Ticket{k}, err
}
