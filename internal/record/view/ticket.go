package view

import (
	"context"
	"slices"

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
	After     string // id of the last ticket of the previous page in this order, or [FromOldest]
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

// FromOldest is the cursor of a list of tickets from the oldest on, in which nobody takes turns.
const FromOldest = "0"

// TicketList is the first page of a list of tickets.
type TicketList struct {
	Tickets []TicketRow // in the order of the filter
	Count   int         // of all pages, if it is asked for
	Taken   []string    // who asks for them, if the page leaves tickets out
	Next    string      // TicketFilter.After of the next page, which has all that is not on this page, and may repeat some that is; empty: there is none
}

// TicketTurns chooses a first page of tickets, of which the askers take turns, and the cursor of the next page. all are the tickets, at least one more of each
// asker than the limit if it has more.
func TicketTurns(all []InboxRow, limit int, turns Turns) (page []InboxRow, next string) {
	slices.SortFunc(all, byAge)
	n := min(limit, len(all))
	order := inTurn(slices.Clone(all), n, turns)
	taken := make(map[string]bool, n)
	for _, w := range order[:n] {
		taken[w.ID] = true
		page = append(page, w.InboxRow)
	}
	if n == len(all) {
		return page, ""
	}
	next = FromOldest
	for _, w := range all {
		if !taken[w.ID] {
			break
		}
		next = w.ID
	}
	return page, next
}

// dueTurn is the part of a first page by due time that is one turn of an asker: a fourth. When a ticket is due is its asker's word.
const dueTurn = 4

// TicketsDue chooses a first page of tickets by when they are due, of which the askers take turns, and the cursor of the next page. all are the tickets in that
// order, at least one more of each asker than the limit if it has more.
func TicketsDue(all []InboxRow, limit int) (page []InboxRow, next string) {
	if len(all) <= limit {
		return all, ""
	}
	had, taken, left := map[string]int{}, make([]bool, len(all)), limit
	turn := (limit + dueTurn - 1) / dueTurn
	for most := turn; left > 0; most += turn {
		for i := range all {
			if from := all[i].Sender(); left > 0 && !taken[i] && had[from] < most {
				taken[i], had[from], left = true, had[from]+1, left-1
			}
		}
	}
	first := slices.Index(taken, false) // all that is due before it is on the page
	for i := range all {
		if taken[i] {
			page = append(page, all[i])
		}
	}
	return page, all[first-1].ID // what is due first of all is on the page
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
