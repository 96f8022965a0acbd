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
	// Claimants are the names of one principal: tickets that others have claimed are left out. Empty: they are not.
	Claimants []string
	Order     TicketOrder
	After     TicketCursor
	Limit     int
}

// TicketOrder is the order of a list of tickets. The zero value is [TicketsByAge].
type TicketOrder string

// The orders of a list of tickets.
const (
	TicketsByAge    TicketOrder = "opened" // the oldest first
	TicketsByDue    TicketOrder = "due"    // open and claimed tickets, those that are due first before others
	TicketsByClosed TicketOrder = "closed" // closed tickets, those that were closed last before others
)

// TicketOrders lists every order of a list of tickets.
var TicketOrders = event.NewSet("an order of tickets", TicketsByAge, TicketsByDue, TicketsByClosed)

func (o *TicketOrder) UnmarshalText(b []byte) error { return TicketOrders.Decode(o, b) }

// TicketList is the first page of a list of tickets.
type TicketList struct {
	Tickets []TicketRow  // in the order of the filter
	Count   int          // of all pages, if it is asked for
	Taken   []string     // who asks for them, if the page leaves tickets out
	Next    TicketCursor // of the next page, which has none of this page; zero: there is none
}

// TicketQueries lists tickets.
type TicketQueries interface {
	// Tickets lists the tickets of a workspace in the order of the filter.
	Tickets(ctx context.Context, workspace string, f TicketFilter) ([]TicketRow, error)
	// TicketsInTurn lists the first page of the tickets of a workspace that wait. If it leaves tickets out, who asks for them takes turns: by due time
	// of a fourth of the page each.
	TicketsInTurn(ctx context.Context, workspace string, f TicketFilter, turns Turns) (TicketList, error)
	// TicketCount counts the tickets that a filter lists on all its pages.
	TicketCount(ctx context.Context, workspace string, f TicketFilter) (int, error)
	// AskedCount counts the tickets of an agent at a desk that are open or claimed, up to most.
	AskedCount(ctx context.Context, workspace, desk, agent string, most int) (int, error)
	// Ticket returns a ticket by its id; found is false if there is none.
	Ticket(ctx context.Context, workspace, id string) (ticket TicketRow, found bool, err error)
}
