package sqlview

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/ticketlist"
)

// ticket is a ticket that has changed. first is the position of the entry that opened it, if it is new.
type ticket struct {
	view.TicketRow
	first ledger.Position
}

// noteTicket keeps a change of the task's ticket until the entry is written. before is the ticket before the event.
func (t *taskFold) noteTicket(before *task.Ticket, e *ledger.Entry) {
	s := &t.state
	if s.Ticket == before || s.Ticket == nil {
		return
	}
	if before != nil && before.N != s.Ticket.N && before.State != event.TicketStateClosed { // closed by the event that opened the next one
		over := *before
		over.State, over.Outcome, over.ClosedBy, over.Closed = event.TicketStateClosed, event.TicketResolved, s.Owner, s.Ticket.Opened
		t.change(&over, e)
	}
	t.change(s.Ticket, e)
	s.Answers = nil
}

// change keeps a changed ticket, in place of an earlier change that has not been written.
func (t *taskFold) change(k *task.Ticket, e *ledger.Entry) {
	s := &t.state
	v := view.TicketRow{
		ID: event.TicketID(t.id, k.N), Task: t.id, Intent: s.Intent, Requester: s.Requester, Priority: s.Priority, Ticket: *k, At: e.Position,
	}
	if s.Handoff != nil && k.Kind == event.TicketApproval {
		v.Envelope = s.Handoff.Envelope
	}
	for i := range t.tickets {
		if t.tickets[i].N == k.N {
			t.tickets[i].TicketRow = v
			return
		}
	}
	t.tickets = append(t.tickets, ticket{v, e.Position})
}

// writeTickets writes the tickets that have changed.
func (p *projector) writeTickets(t *taskFold) error {
	for i := range t.tickets {
		v := &t.tickets[i]
		row, err := json.Marshal(&v.TicketRow)
		if err != nil {
			return err
		}
		asks, claimed := agentOf(v.By), agentOf(v.ClaimedBy)
		if _, err := p.putTicket.Exec(t.workspace, v.ID, v.first, t.id, string(v.State), v.State != event.TicketStateClosed, string(v.Kind), v.Desk, asks, v.To,
			cmp.Or(claimed, v.ClaimedBy), view.Microseconds(v.Due), view.Microseconds(v.Closed), row); err != nil {
			return err
		}
		for _, who := range []string{"", asks, v.To, claimed} {
			p.touched = append(p.touched, topic{workspace: t.workspace, agent: who})
		}
	}
	t.tickets = nil
	return nil
}

// Tickets implements [view.TicketQueries].
func (v *Views) Tickets(ctx context.Context, workspace string, f view.TicketFilter) ([]view.TicketRow, error) {
	from, args := ticketlist.Select(workspace, f)
	return query.JSON[view.TicketRow](ctx, v.db, "SELECT row "+from+ticketlist.Order(f.Order)+" LIMIT ? | 0", append(args, view.PageSize(f.Limit))...)
}

// TicketsInTurn implements [view.TicketQueries].
func (v *Views) TicketsInTurn(ctx context.Context, workspace string, f view.TicketFilter, turns view.Turns) (list view.TicketList, err error) {
	limit := view.PageSize(f.Limit)
	from, args := ticketlist.Select(workspace, f)
	order := ticketlist.Order(f.Order)
	var all []view.DueTicket
	err = v.db.Each(ctx, func(rows *sql.Rows) error {
		var w view.DueTicket
		err := rows.Scan(&w.At, &w.ID, &w.From, &w.Due)
		all = append(all, w)
		return err
	}, "SELECT n, id, asks, due FROM (SELECT n, id, asks, due, row_number() OVER (PARTITION BY asks"+order+") AS turn "+from+") WHERE turn <= ?"+order, append(args, limit+1)...)
	if err != nil {
		return list, err
	}
	page, next := view.TicketsInTurn(all, f.Order, limit, turns)
	if list.Next = next; f.Order != view.TicketsByDue && !next.IsZero() {
		for i := range page {
			list.Taken = append(list.Taken, page[i].Sender())
		}
	}
	ids := make([]string, len(page))
	for i := range page {
		ids[i] = page[i].ID
	}
	b, err := json.Marshal(ids)
	if err == nil {
		list.Tickets, err = query.JSON[view.TicketRow](ctx, v.db,
			"SELECT t.row FROM json_each(?) k CROSS JOIN view_ticket t WHERE t.ws = ? AND t.id = k.value"+strings.ReplaceAll(order, " id", " t.id"), string(b), workspace)
	}
	return list, err
}

// TicketCount implements [view.TicketQueries].
func (v *Views) TicketCount(ctx context.Context, workspace string, f view.TicketFilter) (int, error) {
	f.After = view.TicketCursor{}
	from, args := ticketlist.Select(workspace, f)
	return query.Int(ctx, v.db, "SELECT count(*)"+from, args...)
}

// AskedCount implements [view.TicketQueries].
func (v *Views) AskedCount(ctx context.Context, workspace, desk, agent string, most int) (int, error) {
	return query.Int(ctx, v.db, "SELECT count(*) FROM (SELECT 1 FROM view_ticket INDEXED BY view_ticket_desk WHERE ws = ? AND desk = ? AND asks = ? AND live = 1 LIMIT ?)",
		workspace, desk, agent, most)
}

// Ticket implements [view.TicketQueries].
func (v *Views) Ticket(ctx context.Context, workspace, id string) (view.TicketRow, bool, error) {
	list, err := query.JSON[view.TicketRow](ctx, v.db, "SELECT row FROM view_ticket WHERE ws = ? AND id = ?", workspace, id)
	if err != nil || len(list) == 0 {
		return view.TicketRow{}, false, err
	}
	return list[0], true, nil
}

// ticketStatement is the statement of the projector for tickets.
type ticketStatement struct{ putTicket *sqlitelog.Stmt }
