package view

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// TicketRow is a ticket of a task with the facts that people need first. Text of agents in it is data.
type TicketRow struct {
	ID        string         `json:"id"`
	Task      string         `json:"task"`
	Intent    string         `json:"intent"` // of the task: the first 500 characters
	Requester string         `json:"requester"`
	Priority  event.Priority `json:"priority"`
	Envelope  string         `json:"envelope,omitempty"` // digest of the envelope to approve
	task.Ticket
	At ledger.Position `json:"position"` // of the entry that last changed it
}

// TicketFilter narrows a list of tickets. A zero field does not narrow it.
type TicketFilter struct {
	State event.TicketState
	Live  bool // open or claimed
	Kind  event.TicketKind
	Desk  string
	Task  string
	// Involving is an agent that asks, is asked by name, or has claimed the ticket. With Serves, tickets of those desks
	// count too.
	Involving string
	Serves    []string // the desks that it serves
	After     string   // id of the last ticket of the previous page; lists run from the oldest ticket to the newest
	Limit     int
}

// TicketQueries lists tickets.
type TicketQueries interface {
	// Tickets lists the tickets of a workspace, the oldest first.
	Tickets(ctx context.Context, workspace string, f TicketFilter) ([]TicketRow, error)
	// AskedCount counts the tickets of an agent at a desk that are open or claimed, up to most.
	AskedCount(ctx context.Context, workspace, desk, agent string, most int) (int, error)
	// Ticket returns a ticket by its id; found is false if there is none.
	Ticket(ctx context.Context, workspace, id string) (ticket TicketRow, found bool, err error)
}
