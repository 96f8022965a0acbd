package sqlview

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// Tasks implements [view.TaskQueries].
func (v *Views) Tasks(ctx context.Context, workspace string, f view.TaskFilter) ([]view.TaskRow, error) {
	if words := query.Words(f.Text); len(words) > 0 {
		return v.tasksWith(ctx, workspace, f, words)
	}
	q, args := taskPage("t.row", workspace, f)
	return query.JSON[view.TaskRow](ctx, v.db, q, args...)
}

// StateCounts implements [view.Counts].
func (v *Views) StateCounts(ctx context.Context, workspace string, f view.TaskFilter) (map[event.State]int, error) {
	counts := map[event.State]int{}
	s, _ := selectTasks(workspace, f)
	if words := query.Words(f.Text); len(words) > 0 {
		err := v.search(ctx, words, func(t *searched) error {
			if t.fits {
				counts[t.State]++
			}
			return nil
		}, "SELECT "+searchedColumns+s.Clauses(), s.Args...)
		return counts, err
	}
	err := v.db.Each(ctx, func(rows *sql.Rows) error {
		var state string
		var n int
		err := rows.Scan(&state, &n)
		counts[event.State(state)] = n
		return err
	}, "SELECT t.state, count(*)"+s.Clauses()+" GROUP BY t.state", s.Args...)
	return counts, err
}

// tasksWith reads the tasks of a filter from the newest on until enough have words. An index of words would cost time at every task, and
// people search seldom: a thousand tasks take some milliseconds.
func (v *Views) tasksWith(ctx context.Context, workspace string, f view.TaskFilter, words []string) ([]view.TaskRow, error) {
	list, most := []view.TaskRow{}, view.PageSize(f.Limit)
	f.Limit = view.MaxPage
	for {
		read := 0
		q, args := taskPage(searchedColumns, workspace, f)
		err := v.search(ctx, words, func(t *searched) error {
			read++
			f.After = t.ID
			if len(list) == most || !t.fits {
				return nil
			}
			var row view.TaskRow
			err := json.Unmarshal(t.row, &row)
			list = append(list, row)
			return err
		}, q, args...)
		if err != nil || len(list) == most || read < f.Limit {
			return list, err
		}
	}
}

// searched is a task that words are looked for in. Of its row only this is decoded: times take longest.
type searched struct {
	ID, Intent, Requester, Owner string
	To                           []string // who has the open offer
	State                        event.State
	fits                         bool // it has the words
	row                          []byte
}

// searchedColumns are what search reads.
const searchedColumns = "t.row, (SELECT text FROM view_intent WHERE n = t.n)"

// search calls each for the tasks of a query, with whether they have all of some words.
func (v *Views) search(ctx context.Context, words []string, each func(t *searched) error, q string, args ...any) error {
	return v.db.Each(ctx, func(rows *sql.Rows) error {
		var b, intent sql.RawBytes
		if err := rows.Scan(&b, &intent); err != nil {
			return err
		}
		t := searched{row: b}
		if err := json.Unmarshal(b, &t); err != nil {
			return err
		}
		t.fits = query.HasWords(words, t.ID, t.Requester, t.Owner, strings.Join(t.To, "\n"), cmp.Or(string(intent), t.Intent))
		return each(&t)
	}, q, args...)
}

// selectTasks selects for each filter the index that answers it without reading tasks that have ended, if the filter allows, and returns the column that
// orders them. INDEXED BY turns a mistake here into an error instead of a slow query.
func selectTasks(workspace string, f view.TaskFilter) (s *query.Selection, order string) {
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
	case isRare(f.State):
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

// taskPage is the query of a page of tasks.
func taskPage(columns, workspace string, f view.TaskFilter) (q string, args []any) {
	s, order := selectTasks(workspace, f)
	if f.After != "" {
		s.Also(order+" < ?", f.After)
	}
	return "SELECT " + columns + s.Clauses() + " ORDER BY " + order + " DESC LIMIT ? | 0", append(s.Args, view.PageSize(f.Limit))
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
	return query.Int(ctx, v.db, "SELECT n FROM view_count WHERE ws = ? AND of = ?", workspace, principal)
}
