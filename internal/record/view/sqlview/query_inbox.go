package sqlview

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/rowjson"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// rankShift is the lowest bit of the priority in the ord of an item; the bits below are the position.
const rankShift = 56

// Inbox implements [view.TaskQueries].
func (v *Views) Inbox(ctx context.Context, workspace, agent string, f view.InboxFilter) (view.Inbox, error) {
	f.Limit = view.PageSize(f.Limit)
	for share := f.Needs(); ; share *= 4 {
		all, read, at, err := v.waiting(ctx, workspace, agent, f.After, share)
		if err != nil {
			return view.Inbox{}, err
		}
		list, next, enough := view.InboxPage(all, f, read, at)
		if !enough {
			continue
		}
		box := view.Inbox{Items: make([]view.Item, 0, len(list)), Next: next, Partial: len(list) < len(all)}
		if len(list) > 0 {
			err = v.items(ctx, workspace, agent, list, &box)
		}
		return box, err
	}
}

// waitingQuery reads the keys of the oldest items of each sender in each priority, and in the same statement the position of the
// views: so the list is complete up to that position, even if the views lag or are being rebuilt. It goes from sender to sender by the
// table's key. Of each sender it reads its share of what the page needs and two more, which it gives with the position, and all items
// of the last entry: so many senders cost no more than many items.
var waitingQuery = func() string {
	const of = "i.ws = ?1 AND i.rest = s.rest AND i.agent = ?2"
	ranks := ""
	for rank := range int64(view.Ranks) {
		ranks += fmt.Sprintf(", (%d + ?%d, %d)", rank<<rankShift, rank+4, (rank+1)<<rankShift-1)
	}
	next := func(after string) string {
		return "SELECT s.rest, (SELECT i.sender FROM view_inbox i WHERE " + of + after + " ORDER BY i.sender LIMIT 1) FROM "
	}
	return "WITH RECURSIVE s(rest, sender) AS (" + next("") + "(SELECT 0 AS rest UNION ALL SELECT 1) s UNION ALL " + next(" AND i.sender > s.sender") + "s WHERE s.sender IS NOT NULL), " +
		"n(share) AS MATERIALIZED (SELECT 2 + ?3 / max(count(sender), 1) FROM s), " +
		"r(low, high) AS (VALUES " + ranks[2:] + ") " +
		"SELECT position, (SELECT share FROM n), '', '' FROM view_meta " +
		"UNION ALL SELECT o.ord, 0, o.id, o.sender FROM s CROSS JOIN r CROSS JOIN view_inbox o " +
		"WHERE s.sender IS NOT NULL AND o.ws = ?1 AND o.rest = s.rest AND o.agent = ?2 AND o.sender = s.sender AND o.ord > r.low AND o.ord <= coalesce(" +
		"(SELECT i.ord FROM view_inbox i WHERE " + of + " AND i.sender = s.sender AND i.ord > r.low AND i.ord <= r.high ORDER BY i.ord, i.id LIMIT 1 OFFSET (SELECT share FROM n) - 1), r.high)"
}()

// waiting reads the keys of what waits, how many were read of each sender in each priority at most, and the position of the views.
func (v *Views) waiting(ctx context.Context, workspace, agent string, after view.Cursor, share int) (all []view.InboxRow, read int, at ledger.Position, err error) {
	args := []any{workspace, agent, share}
	for _, a := range after {
		args = append(args, int64(a)) //nolint:gosec // positions fit
	}
	err = v.db.Each(ctx, func(rows *sql.Rows) error {
		w, ord, most := view.InboxRow{}, int64(0), 0
		err := rows.Scan(&ord, &most, &w.ID, &w.From)
		w.Rank, w.At = int(ord>>rankShift), ledger.Position(ord&(1<<rankShift-1)) //nolint:gosec // never negative
		if most > 0 {
			read, at = most, w.At
		} else {
			all = append(all, w)
		}
		return err
	}, waitingQuery, args...)
	return all, read, at, err
}

// itemsQuery reads items by their keys, a JSON array of each sender, ord and id, and what those of a claim have in common.
const itemsQuery = "SELECT k.key, o.id, o.ord, o.item, c.item FROM json_each(?3) k CROSS JOIN view_inbox o LEFT JOIN view_offer c ON c.ws = o.ws AND c.id = o.id WHERE o.ws = ?1 AND o.agent = ?2 AND " +
	"o.rest = (k.value ->> 0 GLOB '~*') AND o.sender = k.value ->> 0 AND o.ord = k.value ->> 1 AND o.id = k.value ->> 2 ORDER BY k.key"

// items adds the items of a list to a page. One that is gone by now is left out.
func (v *Views) items(ctx context.Context, workspace, agent string, list []view.InboxRow, box *view.Inbox) error {
	keys := make([][3]any, len(list))
	for i, w := range list {
		keys[i] = [3]any{w.From, int64(w.Rank)<<rankShift | int64(w.At), w.ID} //nolint:gosec // positions fit
	}
	b, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	return v.db.Each(ctx, func(rows *sql.Rows) error {
		var item view.Item
		var n int
		var ord int64
		var own, common []byte
		if err := rows.Scan(&n, &item.ID, &ord, &own, &common); err != nil {
			return err
		}
		item.At = ledger.Position(ord & (1<<rankShift - 1)) //nolint:gosec // never negative
		err := rowjson.ReadItem(&item, common, own)
		box.Items, box.Senders = append(box.Items, item), append(box.Senders, list[n].Sender())
		return err
	}, itemsQuery, workspace, agent, string(b))
}

// SentCount implements [view.TaskQueries].
func (v *Views) SentCount(ctx context.Context, workspace, agent, sender string, most int) (int, error) {
	return query.Int(ctx, v.db, "SELECT count(*) FROM (SELECT 1 FROM view_inbox WHERE ws = ?1 AND agent = ?2 AND (rest, sender) IN ((0, ?3), (1, ?4)) LIMIT ?5)",
		workspace, agent, sender, view.OtherThanOffer+sender, most)
}
