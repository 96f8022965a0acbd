package sqlview

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// rankShift is the lowest bit of the priority in the ord of an item; the bits below are the position.
const rankShift = 56

// lastRank is the rank of items that come after those of every priority.
var lastRank = len(event.Priorities.Values())

// Inbox implements [view.TaskQueries].
func (v *Views) Inbox(ctx context.Context, workspace, agent string, f view.InboxFilter) (view.Inbox, error) {
	f.Limit = view.PageSize(f.Limit)
	for read := f.Limit/4 + 8; ; read *= 4 {
		all, at, err := v.waiting(ctx, workspace, agent, f.After, read)
		if err != nil {
			return view.Inbox{}, err
		}
		list, next, enough := view.InboxPage(all, f, read, at)
		if !enough {
			continue
		}
		box := view.Inbox{Items: make([]view.Item, len(list)), At: next}
		for i := range list {
			err = errors.Join(err, json.Unmarshal(list[i].Item, &box.Items[i]))
		}
		return box, err
	}
}

// waitingQuery reads the oldest items of each sender in each priority, and in the same statement the position of the views: so the
// list is complete up to that position, even if the views lag or are being rebuilt. It goes from sender to sender by the table's
// key, and reads of each no more than it needs, and all items of the last entry.
var waitingQuery = func() string {
	const of = "i.ws = ?1 AND i.agent = ?2 AND i.sender = "
	ranks := ""
	for rank := range int64(lastRank + 1) {
		ranks += fmt.Sprintf(", (%d, %d)", rank<<rankShift, (rank+1)<<rankShift-1)
	}
	next := func(after string) string {
		return "(SELECT i.sender FROM view_inbox i WHERE i.ws = ?1 AND i.agent = ?2" + after + " ORDER BY i.sender LIMIT 1)"
	}
	return "WITH RECURSIVE s(sender) AS (SELECT " + next("") + " UNION ALL SELECT " + next(" AND i.sender > s.sender") + " FROM s WHERE s.sender IS NOT NULL), " +
		"r(low, high) AS (VALUES " + ranks[2:] + ") " +
		"SELECT position, '', '', NULL FROM view_meta " +
		"UNION ALL SELECT o.ord, o.id, o.sender, o.item FROM s CROSS JOIN r CROSS JOIN view_inbox o " +
		"WHERE s.sender IS NOT NULL AND o.ws = ?1 AND o.agent = ?2 AND o.sender = s.sender AND o.ord > r.low + ?3 AND o.ord <= coalesce(" +
		"(SELECT i.ord FROM view_inbox i WHERE " + of + "s.sender AND i.ord > r.low + ?3 AND i.ord <= r.high ORDER BY i.ord, i.id LIMIT 1 OFFSET ?4 - 1), r.high)"
}()

// OfferCount implements [view.TaskQueries].
func (v *Views) OfferCount(ctx context.Context, workspace, agent, sender string, most int) (int, error) {
	return query.Int(ctx, v.db, "SELECT count(*) FROM (SELECT 1 FROM view_inbox WHERE ws = ? AND agent = ? AND sender = ? LIMIT ?)",
		workspace, agent, sender, most)
}

func (v *Views) waiting(ctx context.Context, workspace, agent string, after ledger.Position, limit int) (all []view.InboxRow, at ledger.Position, err error) {
	err = v.db.Each(ctx, func(rows *sql.Rows) error {
		w, ord := view.InboxRow{}, int64(0)
		err := rows.Scan(&ord, &w.ID, &w.From, &w.Item)
		w.Rank, w.At = int(ord>>rankShift), ledger.Position(ord&(1<<rankShift-1)) //nolint:gosec // never negative
		if w.Item == nil {
			at = w.At
		} else {
			all = append(all, w)
		}
		return err
	}, waitingQuery, workspace, agent, int64(after), limit) //nolint:gosec // positions fit
	return all, at, err
}
