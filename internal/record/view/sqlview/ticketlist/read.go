package ticketlist

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// Desk reads the tickets of lists and their numbers. It is safe for concurrent use.
type Desk struct{ db *query.DB }

// New returns the lists of a database.
func New(db *query.DB) *Desk { return &Desk{db} }

// Tickets implements [view.TicketQueries].
func (l *Desk) Tickets(ctx context.Context, workspace string, f view.TicketFilter) ([]view.TicketRow, error) {
	from, args := Select(workspace, f)
	return query.JSON[view.TicketRow](ctx, l.db, "SELECT row "+from+Order(f.Order)+" LIMIT ? | 0", append(args, view.PageSize(f.Limit))...)
}

// TicketsInTurn implements [view.TicketQueries].
func (l *Desk) TicketsInTurn(ctx context.Context, workspace string, f view.TicketFilter, turns view.Turns) (list view.TicketList, err error) {
	limit := view.PageSize(f.Limit)
	from, args := Select(workspace, f)
	order := Order(f.Order)
	var all []view.DueTicket
	err = l.db.Each(ctx, func(rows *sql.Rows) error {
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
		list.Tickets, err = query.JSON[view.TicketRow](ctx, l.db,
			"SELECT t.row FROM json_each(?) k CROSS JOIN view_ticket t WHERE t.ws = ? AND t.id = k.value"+strings.ReplaceAll(order, " id", " t.id"), string(b), workspace)
	}
	return list, err
}

// TicketCount implements [view.TicketQueries].
func (l *Desk) TicketCount(ctx context.Context, workspace string, f view.TicketFilter) (int, error) {
	f.After = view.TicketCursor{}
	from, args := Select(workspace, f)
	return query.Int(ctx, l.db, "SELECT count(*)"+from, args...)
}

// AskedCount implements [view.TicketQueries].
func (l *Desk) AskedCount(ctx context.Context, workspace, desk, agent string, most int) (int, error) {
	return query.Int(ctx, l.db, "SELECT count(*) FROM (SELECT 1 FROM view_ticket INDEXED BY view_ticket_desk WHERE ws = ? AND desk = ? AND asks = ? AND live = 1 LIMIT ?)",
		workspace, desk, agent, most)
}

// Ticket implements [view.TicketQueries].
func (l *Desk) Ticket(ctx context.Context, workspace, id string) (view.TicketRow, bool, error) {
	list, err := query.JSON[view.TicketRow](ctx, l.db, "SELECT row FROM view_ticket WHERE ws = ? AND id = ?", workspace, id)
	if err != nil || len(list) == 0 {
		return view.TicketRow{}, false, err
	}
	return list[0], true, nil
}
