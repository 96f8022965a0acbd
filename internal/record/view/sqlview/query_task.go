package sqlview

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// Tasks implements [view.TaskQueries].
func (v *Views) Tasks(ctx context.Context, workspace string, f view.TaskFilter) ([]view.TaskRow, error) {
	if words := strings.Fields(strings.ToLower(f.Text)); len(words) > 0 {
		return v.tasksWith(ctx, workspace, f, words)
	}
	q, args := selectTasks("t.row", workspace, f)
	return query.JSON[view.TaskRow](ctx, v.db, q, args...)
}

// tasksWith reads the tasks of a filter from the newest on until enough have words. An index of words would cost time at every task, and
// people search seldom: a thousand tasks take some milliseconds.
func (v *Views) tasksWith(ctx context.Context, workspace string, f view.TaskFilter, words []string) ([]view.TaskRow, error) {
	list, most := []view.TaskRow{}, view.PageSize(f.Limit)
	f.Limit = view.MaxPage
	for {
		read := 0
		q, args := selectTasks("t.row, (SELECT text FROM view_intent WHERE n = t.n)", workspace, f)
		err := v.db.Each(ctx, func(rows *sql.Rows) error {
			var b, intent sql.RawBytes
			if err := rows.Scan(&b, &intent); err != nil {
				return err
			}
			var is struct{ ID, Intent, Requester, Owner string } // times take longest to decode
			if err := json.Unmarshal(b, &is); err != nil {
				return err
			}
			read++
			f.After = is.ID
			if len(list) == most || !hasWords(words, is.Requester, is.Owner, cmp.Or(string(intent), is.Intent)) {
				return nil
			}
			var row view.TaskRow
			err := json.Unmarshal(b, &row)
			list = append(list, row)
			return err
		}, q, args...)
		if err != nil || len(list) == most || read < f.Limit {
			return list, err
		}
	}
}

// hasWords reports whether each of some words, in lower case, is in one of some texts.
func hasWords(words []string, texts ...string) bool {
	text := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// selectTasks selects for each filter the index that answers it without reading tasks that have ended, if the filter allows.
// INDEXED BY turns a mistake here into an error instead of a slow query.
func selectTasks(columns, workspace string, f view.TaskFilter) (q string, args []any) {
	where := []string{"t.ws = ?"}
	args = []any{workspace}
	also := func(condition string, value ...any) {
		where, args = append(where, condition), append(args, value...)
	}
	involving := strings.TrimPrefix(f.Involving, "agent/")
	live := f.Live || f.State == event.Executing || f.State == event.HandingOff
	from, order := "view_task AS t INDEXED BY ", "t.id"
	through := func(table, column, value string) {
		from = table + " AS i CROSS JOIN view_task AS t INDEXED BY view_task_id ON t.ws = i.ws AND t.id = i.task"
		also("i.ws = ? AND i."+column+" = ?", workspace, value)
		order = "i.task"
	}
	switch {
	case f.Parent != "":
		through("view_child", "parent", f.Parent)
	case isRare(f.State):
		through("view_rare", "state", string(f.State))
	case live && f.Owner != "":
		from += "view_task_owner"
		also("t.owner <> ''")
	case live:
		from += "view_task_live"
	case f.Involving != "" || f.Owner != "":
		lead := involving
		if lead == "" {
			lead = f.Owner // an owner is involved
		}
		through("view_involved", "agent", lead)
		involving = ""
	default:
		from += "view_task_id"
	}
	if live {
		also("t.live > 0")
	}
	if f.State != "" {
		also("t.state = ?", string(f.State))
	}
	if f.Owner != "" {
		also("t.owner = ?", f.Owner)
	}
	if involving != "" {
		also("EXISTS(SELECT 1 FROM view_involved AS o WHERE o.ws = t.ws AND o.agent = ? AND o.task = t.id)", involving)
	}
	if f.After != "" {
		also(order+" < ?", f.After)
	}
	q = "SELECT " + columns + " FROM " + from + " WHERE " + strings.Join(where, " AND ") + " ORDER BY " + order + " DESC LIMIT ? | 0"
	return q, append(args, view.PageSize(f.Limit))
}

// isRare reports whether tasks in a state are in view_rare.
func isRare(s event.State) bool {
	return s != "" && s != event.Completed && s != event.Executing && s != event.HandingOff
}

// Dependents implements [view.TaskQueries].
func (v *Views) Dependents(ctx context.Context, workspace, task string) ([]string, error) {
	if v.noDependents.Load() {
		return []string{}, ctx.Err()
	}
	return query.Texts(ctx, v.db, "SELECT task FROM view_dependent WHERE ws = ? AND needed = ? ORDER BY task", workspace, task)
}

// Claims implements [view.TaskQueries].
func (v *Views) Claims(ctx context.Context, workspace, capability string) ([]string, error) {
	return query.Texts(ctx, v.db, "SELECT handoff FROM view_claim WHERE ws = ? AND who = ? ORDER BY handoff", workspace, capability)
}

// MissedClaims implements [view.TaskQueries].
func (v *Views) MissedClaims(ctx context.Context, workspace, agent string) ([]string, error) {
	return v.Claims(ctx, workspace, missedBy+agent)
}

// Waiting implements [view.Timers].
func (v *Views) Waiting(ctx context.Context, workspace, agent string) ([]string, error) {
	return v.Claims(ctx, workspace, waitsFor+agent)
}

// OpenTaskCount implements [view.TaskQueries].
func (v *Views) OpenTaskCount(ctx context.Context, workspace, principal string) (int, error) {
	return query.Int(ctx, v.db, "SELECT n FROM view_open WHERE ws = ? AND principal = ?", workspace, principal)
}
