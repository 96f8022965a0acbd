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
)

// rankShift is the lowest bit of the priority in the ord of an item; the bits below are the position.
const rankShift = 56

// lastRank is the rank of items that come after those of every priority.
var lastRank = len(event.Priorities.Values())

// Inbox implements [view.TaskQueries].
func (v *Views) Inbox(ctx context.Context, workspace, agent string, f view.InboxFilter) (view.Inbox, error) {
	f.Limit = view.PageSize(f.Limit)
	for read := f.Limit + 1; ; read *= 2 {
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

// waitingQuery reads the oldest items of each priority, and in the same statement the position of the views: so the list is
// complete up to that position, even if the views lag or are being rebuilt.
var waitingQuery = func() string {
	q := "SELECT position, '', NULL FROM view_meta"
	const and = " UNION ALL SELECT * FROM (SELECT ord, id, item FROM view_inbox WHERE ws = ?1 AND agent = ?2 AND ord > %d + ?3 AND ord < %d ORDER BY ord, id LIMIT ?4 | 0)"
	for rank := range int64(lastRank + 1) {
		q += fmt.Sprintf(and, rank<<rankShift, (rank+1)<<rankShift)
	}
	return q
}()

func (v *Views) waiting(ctx context.Context, workspace, agent string, after ledger.Position, limit int) (all []view.InboxRow, at ledger.Position, err error) {
	err = v.db.Each(ctx, func(rows *sql.Rows) error {
		w, ord := view.InboxRow{}, int64(0)
		err := rows.Scan(&ord, &w.ID, &w.Item)
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
