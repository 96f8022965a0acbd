package sqlview

import (
	"context"
	"database/sql"
	"time"

	"github.com/trapezehq/trapeze/internal/record/view"
)

// waits is true of an item that is no share of a task that has ended: such a share can be read, and nobody waits for that.
const waits = "id NOT GLOB '*.s[0-9]*' OR EXISTS (SELECT 1 FROM view_task t WHERE t.ws = view_inbox.ws AND t.id = substr(view_inbox.id, 1, instr(view_inbox.id, '.s') - 1) AND t.live > 0)"

// InboxCounts implements [view.Counts]. The oldest item is that of the lowest position; SQLite reads the columns after it of that row alone, since it is
// the row of the minimum (https://sqlite.org/lang_select.html#bareagg).
func (v *Views) InboxCounts(ctx context.Context) (list []view.InboxCount, err error) {
	var first sql.NullInt64 // of the last in the list; of none if it has nothing but notices
	err = v.db.Each(ctx, func(rows *sql.Rows) error {
		var c view.InboxCount
		var oldest, from string
		var at sql.NullInt64
		if err := rows.Scan(&c.Workspace, &c.Agent, &c.Items, &at, &oldest, &from); err != nil {
			return err
		}
		last := len(list) - 1
		if last >= 0 && list[last].Workspace == c.Workspace && list[last].Agent == c.Agent {
			list[last].Items += c.Items
		} else {
			list, last, first = append(list, c), last+1, sql.NullInt64{}
		}
		if !at.Valid || first.Valid && first.Int64 < at.Int64 {
			return nil
		}
		var err error
		first, list[last].From = at, from
		list[last].Oldest, err = time.Parse(time.RFC3339Nano, oldest)
		return err
	}, "SELECT ws, agent, count(*), min(CASE WHEN id NOT GLOB '*.n[0-9]*' AND ("+waits+") THEN ord & ? END), json_extract(CAST(item AS TEXT), '$.since'), "+
		"coalesce(json_extract(CAST(item AS TEXT), '$.from'), (SELECT json_extract(CAST(c.item AS TEXT), '$.from') FROM view_offer c WHERE c.ws = view_inbox.ws AND c.id = view_inbox.id)) "+
		"FROM view_inbox GROUP BY ws, rest, agent ORDER BY ws, agent", int64(1)<<rankShift-1)
	return list, err
}
