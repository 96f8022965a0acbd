package tasklist

import (
	"cmp"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// Select selects for each filter the index that answers it without reading tasks that have ended, if the filter allows, and returns the column that
// orders them. INDEXED BY turns a mistake here into an error instead of a slow query.
func Select(workspace string, f view.TaskFilter) (s *query.Selection, order string) {
	s, order = &query.Selection{From: "view_task AS t INDEXED BY "}, "t.id"
	s.Also("t.ws = ?", workspace)
	involving := strings.TrimPrefix(f.Involving, "agent/")
	live := f.Live || f.State == event.Executing || f.State == event.HandingOff
	through := func(table, column, value string) {
		s.From = table + " AS i CROSS JOIN view_task AS t INDEXED BY view_task_id ON t.ws = i.ws AND t.id = i.task"
		s.Also("i.ws = ? AND i."+column+" = ?", workspace, value)
		order = "i.task"
	}
	switch {
	case len(f.IDs) > 0:
		s.From += "view_task_id"
		s.In("t.id", f.IDs)
	case f.Parent != "" && f.Deep:
		s.From, order = below+" AS i CROSS JOIN view_task AS t INDEXED BY view_task_id ON t.id = i.task", "i.task"
		s.Args = append([]any{workspace, f.Parent, workspace, view.MaxDepth}, s.Args...)
	case f.Parent != "":
		through("view_child", "parent", f.Parent)
	case IsRare(f.State):
		through("view_rare", "state", string(f.State))
	case live && f.Owner != "":
		s.From += "view_task_owner"
		s.Also("t.owner <> ''")
	case live:
		s.From += "view_task_live"
	case f.Involving != "" || f.Owner != "":
		through("view_involved", "agent", cmp.Or(involving, f.Owner)) // an owner is involved
		involving = ""
	default:
		s.From += "view_task_id"
	}
	if live {
		s.Also("t.live > 0")
	}
	s.Is("t.state", string(f.State))
	s.Is("t.owner", f.Owner)
	if involving != "" {
		s.Also("EXISTS(SELECT 1 FROM view_involved AS o WHERE o.ws = t.ws AND o.agent = ? AND o.task = t.id)", involving)
	}
	if !f.Since.IsZero() {
		s.Also(updated+" >= ?", query.Sortable(f.Since))
	}
	if !f.Until.IsZero() {
		s.Also(updated+" < ?", query.Sortable(f.Until))
	}
	return s, order
}

// below are the tasks below one, to a depth.
const below = `(WITH RECURSIVE below(task, depth) AS (SELECT task, 1 FROM view_child WHERE ws = ? AND parent = ?
	UNION ALL SELECT c.task, below.depth + 1 FROM below CROSS JOIN view_child AS c ON c.ws = ? AND c.parent = below.task WHERE below.depth < ?) SELECT task FROM below)`

// updated is when a task last changed. A column of its own would cost time at every change.
const updated = "rtrim(json_extract(CAST(t.row AS TEXT), '$.updated'), 'Z')"

// Page is the query of a page of tasks.
func Page(columns, workspace string, f view.TaskFilter) (q string, args []any) {
	s, order := Select(workspace, f)
	if f.After != "" {
		s.Also(order+" < ?", f.After)
	}
	return "SELECT " + columns + s.Clauses() + " ORDER BY " + order + " DESC LIMIT ? | 0", append(s.Args, view.PageSize(f.Limit))
}

// IsRare reports whether tasks in a state are in view_rare.
func IsRare(s event.State) bool {
	return s != "" && s != event.Completed && s != event.Executing && s != event.HandingOff
}
