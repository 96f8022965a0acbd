package view

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Ticket is what people are asked of a task, with what they want to know first. What agents wrote in it is data.
type Ticket struct {
	ID        string         `json:"id"`
	Task      string         `json:"task"`
	Intent    string         `json:"intent"` // of the task: the first 500 characters
	Requester string         `json:"requester"`
	Priority  event.Priority `json:"priority"`
	Envelope  string         `json:"envelope,omitempty"` // digest of what is to be approved
	task.Ticket
	At ledger.Position `json:"position"` // of the entry that changed it last
}

// TicketFilter narrows a list of tickets. Zero fields do not.
type TicketFilter struct {
	State event.TicketState
	Live  bool // open or claimed
	Kind  event.TicketKind
	Desk  string
	Task  string
	// Involving is an agent that asks, is asked by name, or has claimed the ticket; or whoever serves one of the desks.
	Involving string
	Serves    []string // desks, with Involving
	After     string   // id of the last ticket of the page before; lists run from the oldest ticket to the newest
	Limit     int
}

// Desks lists what people are asked.
type Desks interface {
	// Tickets lists a workspace's tickets, the oldest first.
	Tickets(ctx context.Context, workspace string, f TicketFilter) ([]Ticket, error)
	// Ticket is one ticket by its id; none if there is no such ticket.
	Ticket(ctx context.Context, workspace, id string) (ticket Ticket, found bool, err error)
}
