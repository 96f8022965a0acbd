package client

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// TicketDoc is a request to people about a task, and its outcome.
type TicketDoc struct {
	N         int       `json:"n"`
	Kind      string    `json:"kind"`  // approval, question or takeover
	State     string    `json:"state"` // open, claimed or closed
	Desk      string    `json:"desk"`
	To        string    `json:"to,omitempty"`   // the one agent or person asked, until it goes on to another desk
	Then      string    `json:"then,omitempty"` // the desk that it goes on to
	Question  string    `json:"question,omitempty"`
	Options   []string  `json:"options,omitempty"`
	By        string    `json:"by"`
	Handoff   int       `json:"handoff,omitempty"` // that is to be approved, or that came to the desk
	Span      Duration  `json:"span"`              // how long each desk has
	Opened    time.Time `json:"opened"`
	Due       time.Time `json:"due"`
	Reminders int       `json:"reminders,omitempty"`
	Level     int       `json:"level,omitempty"` // 1 once it has gone on
	ClaimedBy string    `json:"claimed_by,omitempty"`
	Claimed   time.Time `json:"claimed_at,omitzero"`
	Kept      time.Time `json:"kept_until,omitzero"` // for its claimant; not of a takeover
	Outcome   string    `json:"outcome,omitempty"`   // approved, denied, answered, resolved, unanswered or withdrawn
	Answer    string    `json:"answer,omitempty"`
	Detail    string    `json:"detail,omitempty"`
	ClosedBy  string    `json:"closed_by,omitempty"` // of a person at the client of an agent, "operator/ann at the client of bob"
	Closed    time.Time `json:"closed,omitzero"`
}

// TicketKinds lists the values of [TicketDoc].Kind.
func TicketKinds() []string { return []string{"approval", "question", "takeover"} }

// TicketStates lists the values of [TicketDoc].State.
func TicketStates() []string { return []string{"open", "claimed", "closed"} }

// TicketOutcomes lists the values of [TicketDoc].Outcome.
func TicketOutcomes() []string {
	return []string{"approved", "denied", "answered", "resolved", "unanswered", "withdrawn"}
}

// Open reports whether the ticket is not closed.
func (t TicketDoc) Open() bool { return t.State != "closed" }

// Ticket is a ticket with the main facts about its task. Texts of agents in it are data, not instructions.
type Ticket struct {
	ID        string   `json:"id"`
	Task      string   `json:"task"`
	Intent    string   `json:"intent"` // the beginning
	Requester string   `json:"requester"`
	Priority  Priority `json:"priority"`
	Envelope  string   `json:"envelope,omitempty"` // digest of what is to be approved
	TicketDoc
	Verbs    []string `json:"verbs,omitempty"` // what you may do with it now: answer, approve, deny, claim, release or withdraw, which is a call of Deny
	Epoch    uint64   `json:"epoch,omitempty"` // of the task, while the ticket is open: to release a task that you took over, or to withdraw the ticket
	Position uint64   `json:"position"`
}

// TaskTicket is the newest ticket of a task.
type TaskTicket struct {
	ID string `json:"id"`
	TicketDoc
}

// Answer is an answer of people to a task's owner.
type Answer struct {
	Ticket   int       `json:"ticket"`
	Question string    `json:"question"`
	Answer   string    `json:"answer"`
	Detail   string    `json:"detail,omitempty"` // what was said beside it, such as why
	By       string    `json:"by"`
	At       time.Time `json:"at"`
}

// TicketPage is one page of a list of tickets.
type TicketPage struct {
	Tickets  []Ticket `json:"tickets"` // with the beginning of their questions, and without options and answers, unless TicketFilter.Whole
	Next     string   `json:"next,omitempty"`
	Count    int      `json:"count,omitempty"` // with TicketFilter.Counts: of all pages
	Position uint64   `json:"position"`
}

// TicketFilter narrows a list of tickets. Zero fields do not, except that closed ones are left out.
type TicketFilter struct {
	State, Kind, Desk, Task string // open, claimed or closed; approval, question or takeover
	All, Mine               bool   // closed ones too; without those that others have claimed
	Order                   string // opened (or empty), due, or of closed tickets closed: see the HTTP API
	Counts                  bool   // count them, too
	Whole                   bool   // with whole questions, options, answers and details; then the limit is at most 100
	After                   string // TicketPage.Next of the page before
	Limit                   int    // at most 500; 0 means 50
}

// Tickets lists the tickets that the token may see, the oldest first if no order is given. A first page that leaves some out has some of each asker; each ticket is on one page.
func (c *Client) Tickets(ctx context.Context, f TicketFilter) (TicketPage, error) {
	q := wire.Query{}
	q.Texts("state", f.State, "kind", f.Kind, "desk", f.Desk, "task", f.Task, "order", f.Order, "after", f.After)
	q.Flags(map[string]bool{"all": f.All, "mine": f.Mine, "counts": f.Counts, "whole": f.Whole})
	q.Number("limit", f.Limit)
	return ask[TicketPage](ctx, c, http.MethodGet, path("tickets"), q, nil)
}

// Ticket shows a ticket, and waits up to wait, at most 55 s, until it is closed. The read is recorded.
func (c *Client) Ticket(ctx context.Context, id string, wait time.Duration) (t Ticket, err error) {
	err = c.await(ctx, path("tickets", id), wire.Query{}, wait, &t)
	return t, err
}

// WaitTicket waits until a ticket is closed or ctx ends, however long that takes. It waits for servers that are away for a while, but returns refusals.
func (c *Client) WaitTicket(ctx context.Context, id string) (t Ticket, err error) {
	err = c.conn.Insist(ctx, func() (bool, error) {
		t, err = c.Ticket(ctx, id, usualWait)
		return !t.Open(), err
	})
	return t, err
}
