package ticketlist

import (
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// Schema is the table of tickets. n is the position of the entry that opened it. asks and asked are agents; claimed is an agent, or another principal with its
// role. due and closed are in microseconds.
const Schema = `
CREATE TABLE view_ticket(
	ws TEXT NOT NULL, id TEXT NOT NULL, n INTEGER NOT NULL, task TEXT NOT NULL, state TEXT NOT NULL, live INTEGER NOT NULL, kind TEXT NOT NULL,
	desk TEXT NOT NULL, asks TEXT NOT NULL, asked TEXT NOT NULL, claimed TEXT NOT NULL, due INTEGER NOT NULL, closed INTEGER NOT NULL, row BLOB NOT NULL,
	PRIMARY KEY(ws, id)) STRICT, WITHOUT ROWID;
CREATE INDEX view_ticket_age ON view_ticket(ws, n, id);
CREATE INDEX view_ticket_live ON view_ticket(ws, n, id) WHERE live = 1;
CREATE INDEX view_ticket_due ON view_ticket(ws, due, n, id) WHERE live = 1;
CREATE INDEX view_ticket_closed ON view_ticket(ws, closed, n, id) WHERE live = 0;
CREATE INDEX view_ticket_desk ON view_ticket(ws, desk, asks, n, id) WHERE live = 1;
CREATE INDEX view_ticket_task ON view_ticket(ws, task, n, id);
`

// Put writes a row.
const Put = `INSERT INTO view_ticket(ws, id, n, task, state, live, kind, desk, asks, asked, claimed, due, closed, row) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET state = excluded.state, live = excluded.live, desk = excluded.desk, asked = excluded.asked,
	claimed = excluded.claimed, due = excluded.due, closed = excluded.closed, row = excluded.row`

// Order is by which columns a list is ordered.
func Order(o view.TicketOrder) string {
	switch o {
	case view.TicketsByDue:
		return " ORDER BY due, n, id"
	case view.TicketsByClosed:
		return " ORDER BY closed DESC, n DESC, id DESC"
	case view.TicketsByAge:
	}
	return " ORDER BY n, id"
}

// Select is from where, and under which conditions, tickets are selected.
func Select(workspace string, f view.TicketFilter) (from string, args []any) {
	s := query.Selection{From: "view_ticket INDEXED BY " + narrow(f)}
	s.Also("ws = ?", workspace)
	switch {
	case f.Live, f.State == event.TicketStateOpen, f.State == event.TicketStateClaimed:
		s.Also("live = 1")
	case f.State == event.TicketStateClosed:
		s.Also("live = 0")
	}
	s.Is("task", f.Task)
	s.Is("state", string(f.State))
	s.Is("kind", string(f.Kind))
	s.Is("desk", f.Desk)
	if f.Involving != "" {
		mine, values := "asks = ? OR asked = ? OR claimed = ?", []any{f.Involving, f.Involving, f.Involving}
		if len(f.Serves) > 0 {
			mine += " OR kind <> ? AND asked = '' AND desk IN (" + marks(f.Serves) + ")"
			values = append(append(values, string(event.TicketApproval)), anys(f.Serves)...)
		}
		s.Also("("+mine+")", values...)
	}
	if len(f.Claimants) > 0 {
		s.Also("(claimed = '' OR claimed IN ("+marks(f.Claimants)+"))", anys(f.Claimants)...)
	}
	after(&s, workspace, f)
	return s.Clauses(), s.Args
}

// after narrows a list to what comes after a cursor.
func after(s *query.Selection, workspace string, f view.TicketFilter) {
	columns, than := "n, id", ">"
	switch f.Order {
	case view.TicketsByDue:
		columns = "due, n, id"
	case view.TicketsByClosed:
		columns, than = "closed, n, id", "<"
	case view.TicketsByAge:
	}
	compare := func(than string, p view.TicketPlace) (string, []any) {
		found, args := columns, []any{workspace, p.ID}
		if f.Order == view.TicketsByDue && p.Due != 0 {
			found, args = "?, n, id", []any{p.Due, workspace, p.ID}
		}
		return "(" + columns + ") " + than + " (SELECT " + found + " FROM view_ticket WHERE ws = ? AND id = ?)", args
	}
	if f.After.After.ID != "" {
		condition, args := compare(than, f.After.After)
		s.Also(condition, args...)
	}
	if f.After.Whole.ID == "" {
		return
	}
	condition, args := compare(than, f.After.Whole)
	for _, p := range f.After.Left {
		from, place := compare(than+"=", p)
		condition += " OR asks = (SELECT asks FROM view_ticket WHERE ws = ? AND id = ?) AND " + from
		args = append(append(args, workspace, p.ID), place...)
	}
	s.Also("("+condition+")", args...)
}

// narrow is the index of the fewest rows.
func narrow(f view.TicketFilter) string {
	switch {
	case f.Task != "":
		return "view_ticket_task"
	case f.Order == view.TicketsByDue:
		return "view_ticket_due"
	case f.Order == view.TicketsByClosed:
		return "view_ticket_closed"
	case f.Live || f.State == event.TicketStateOpen || f.State == event.TicketStateClaimed:
		return "view_ticket_live"
	}
	return "view_ticket_age"
}

func marks(list []string) string { return "?" + strings.Repeat(", ?", len(list)-1) }

func anys(list []string) (all []any) {
	for _, s := range list {
		all = append(all, s)
	}
	return all
}
