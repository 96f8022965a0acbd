package tasklist

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// Lists reads the tasks of lists and their numbers. It is safe for concurrent use.
type Lists struct{ db *query.DB }

// New returns the lists of a database.
func New(db *query.DB) *Lists { return &Lists{db} }

// Tasks implements [view.TaskQueries].
func (l *Lists) Tasks(ctx context.Context, workspace string, f view.TaskFilter) ([]view.TaskRow, error) {
	if words := query.Words(f.Text); len(words) > 0 {
		return l.tasksWith(ctx, workspace, f, words)
	}
	q, args := Page("t.row", workspace, f)
	return query.JSON[view.TaskRow](ctx, l.db, q, args...)
}

// StateCounts implements [view.Counts].
func (l *Lists) StateCounts(ctx context.Context, workspace string, f view.TaskFilter) (map[event.State]int, error) {
	counts := map[event.State]int{}
	s, _ := Select(workspace, f)
	if words := query.Words(f.Text); len(words) > 0 {
		err := l.search(ctx, words, func(t *searched) error {
			if t.fits {
				counts[t.State]++
			}
			return nil
		}, "SELECT "+searchedColumns+s.Clauses(), s.Args...)
		return counts, err
	}
	err := l.db.Each(ctx, func(rows *sql.Rows) error {
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
func (l *Lists) tasksWith(ctx context.Context, workspace string, f view.TaskFilter, words []string) ([]view.TaskRow, error) {
	list, most := []view.TaskRow{}, view.PageSize(f.Limit)
	f.Limit = view.MaxPage
	for {
		read := 0
		q, args := Page(searchedColumns, workspace, f)
		err := l.search(ctx, words, func(t *searched) error {
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
func (l *Lists) search(ctx context.Context, words []string, each func(t *searched) error, q string, args ...any) error {
	return l.db.Each(ctx, func(rows *sql.Rows) error {
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

// TaskCounts implements [view.Counts].
func (l *Lists) TaskCounts(ctx context.Context) (counts map[string]view.TaskCount, at ledger.Position, err error) {
	counts = map[string]view.TaskCount{}
	err = l.db.Each(ctx, func(rows *sql.Rows) error {
		var what, workspace string
		var n int64
		if err := rows.Scan(&what, &workspace, &n); err != nil {
			return err
		}
		c := counts[workspace]
		switch what {
		case "at":
			at = ledger.Position(n) //nolint:gosec // never negative
			return nil
		case "open":
			c.Open = int(n)
		case "requested":
			c.Requested = int(n)
		default:
			c.Parked = int(n)
		}
		counts[workspace] = c
		return nil
	}, `SELECT 'at', '', position FROM view_meta
		UNION ALL SELECT 'open', ws, count(*) FROM view_task WHERE live > 0 GROUP BY ws
		UNION ALL SELECT 'requested', ws, sum(n) FROM view_count WHERE of NOT GLOB '@*' GROUP BY ws
		UNION ALL SELECT 'parked', ws, count(*) FROM view_rare WHERE state = ? GROUP BY ws`, string(event.Parked))
	return counts, at, err
}

// ReferringTasks implements [view.References].
func (l *Lists) ReferringTasks(ctx context.Context, workspace, digest string, f view.ReferenceFilter) ([]string, error) {
	q, args := "SELECT task FROM view_artifact AS a WHERE ws = ? AND digest = ?", []any{workspace, digest}
	if f.Involving != "" {
		q += " AND EXISTS(SELECT 1 FROM view_involved AS i WHERE i.ws = a.ws AND i.agent = ? AND i.task = a.task)"
		args = append(args, strings.TrimPrefix(f.Involving, "agent/"))
	}
	if f.After != "" {
		q += " AND task < ?"
		args = append(args, f.After)
	}
	return query.Texts(ctx, l.db, q+" ORDER BY task DESC LIMIT ? | 0", append(args, view.PageSize(f.Limit))...)
}

// IsReferred implements [view.References]. One statement sees one state.
func (l *Lists) IsReferred(ctx context.Context, workspace, digest string) (referred bool, at ledger.Position, err error) {
	err = l.db.Each(ctx, func(rows *sql.Rows) error {
		var position int64
		err := rows.Scan(&referred, &position)
		at = ledger.Position(position) //nolint:gosec // never negative
		return err
	}, "SELECT EXISTS(SELECT 1 FROM view_artifact WHERE ws = ? AND digest = ?), position FROM view_meta", workspace, digest)
	return referred, at, err
}
