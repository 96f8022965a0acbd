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
	After     string   // id of the last ticket of the previous page, or [FromOldest]; lists run from the oldest ticket to the newest
	Limit     int
}

// FromOldest is the cursor of a list of tickets from the oldest on, in which nobody takes turns.
const FromOldest = "0"

// TicketList is the first page of a list of tickets.
type TicketList struct {
	Tickets []TicketRow // the oldest first
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

// TicketQueries lists tickets.
type TicketQueries interface {
	// Tickets lists the tickets of a workspace, the oldest first.
	Tickets(ctx context.Context, workspace string, f TicketFilter) ([]TicketRow, error)
	// TicketsInTurn lists the first page of the tickets of a workspace. If it leaves tickets out, who asks for them takes turns.
	TicketsInTurn(ctx context.Context, workspace string, f TicketFilter, turns Turns) (TicketList, error)
	// AskedCount counts the tickets of an agent at a desk that are open or claimed, up to most.
	AskedCount(ctx context.Context, workspace, desk, agent string, most int) (int, error)
	// Ticket returns a ticket by its id; found is false if there is none.
	Ticket(ctx context.Context, workspace, id string) (ticket TicketRow, found bool, err error)
}
