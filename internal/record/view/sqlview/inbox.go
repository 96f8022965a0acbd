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

// rankShift is where the priority begins in an item's ord; below it is the position.
const rankShift = 56

// Inbox implements [view.Board].
func (v *Views) Inbox(ctx context.Context, workspace, agent string, f view.InboxFilter) (view.Inbox, error) {
	f.Limit = view.PageSize(f.Limit)
	for read := f.Limit + 1; ; read *= 2 {
		all, at, err := v.waiting(ctx, workspace, agent, f.After, read)
		if err != nil {
			return view.Inbox{}, err
		}
		list, next, enough := view.PageOf(all, f, read, at)
		if !enough {
			continue
		}
		box := view.Inbox{Items: make([]view.Item, len(list)), At: next}
		for i := range list {
			err = errors.Join(err, json.Unmarshal(list[i].Row, &box.Items[i]))
		}
		return box, err
	}
}

// waitingQuery reads the oldest items of each priority, and in the same look how far the views are: so the list is complete up
// to there, however late the views are, or if they are just being made anew.
var waitingQuery = func() string {
	q := "SELECT position, '', NULL FROM view_meta"
	const and = " UNION ALL SELECT * FROM (SELECT ord, id, item FROM view_inbox WHERE ws = ?1 AND agent = ?2 AND ord > %d + ?3 AND ord < %d ORDER BY ord, id LIMIT ?4 | 0)"
	for rank := range int64(len(event.Priorities())) {
		q += fmt.Sprintf(and, rank<<rankShift, (rank+1)<<rankShift)
	}
	return q
}()

func (v *Views) waiting(ctx context.Context, workspace, agent string, after ledger.Position, limit int) (all []view.Waiting, at ledger.Position, err error) {
	err = v.query(ctx, func(rows *sql.Rows) error {
		w, ord := view.Waiting{}, int64(0)
		err := rows.Scan(&ord, &w.ID, &w.Row)
		w.Rank, w.At = int(ord>>rankShift), ledger.Position(ord&(1<<rankShift-1)) //nolint:gosec // never negative
		if w.Row == nil {
			at = w.At
		} else {
			all = append(all, w)
		}
		return err
	}, waitingQuery, workspace, agent, int64(after), limit) //nolint:gosec // positions fit
	return all, at, err
}
