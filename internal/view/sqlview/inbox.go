package sqlview

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/view"
)

// rankShift is where the priority begins in an item's ord; below it is the position.
const rankShift = 56

// waits is an item as its table has it.
type waits struct {
	ord  int64
	id   string
	item []byte
}

func (w waits) at() ledger.Position {
	return ledger.Position(w.ord & (1<<rankShift - 1)) //nolint:gosec // never negative
}

func byPriority(x, y waits) int { return cmp.Or(cmp.Compare(x.ord, y.ord), cmp.Compare(x.id, y.id)) }

func byAge(x, y waits) int { return cmp.Or(cmp.Compare(x.at(), y.at()), byPriority(x, y)) }

// Inbox implements [view.Board].
func (v *Views) Inbox(ctx context.Context, workspace, agent string, f view.InboxFilter) (view.Inbox, error) {
	limit := page(f.Limit)
	for more := limit + 1; ; more *= 2 {
		all, at, err := v.waiting(ctx, workspace, agent, f.After, more)
		if err != nil {
			return view.Inbox{}, err
		}
		if f.After == 0 {
			return firstOf(all, limit, at)
		}
		slices.SortFunc(all, byAge)
		if len(all) <= limit {
			return listed(all, max(at, f.After))
		}
		// What one entry put here is not parted: no position lies within it.
		n := limit
		for n > 0 && all[n-1].at() == all[n].at() {
			n--
		}
		if n > 0 {
			return listed(all[:n], all[n-1].at())
		}
		for n < len(all) && all[n].at() == all[0].at() {
			n++
		}
		if n < more { // else there may be more of it
			return listed(all[:n], all[0].at())
		}
	}
}

// firstOf is what has the highest priority. Where something is left out, one goes on before the oldest of that.
func firstOf(all []waits, limit int, at ledger.Position) (view.Inbox, error) {
	slices.SortFunc(all, byPriority)
	for i := limit; i < len(all); i++ {
		at = min(at, all[i].at()-1)
	}
	return listed(all[:min(limit, len(all))], at)
}

func listed(all []waits, at ledger.Position) (view.Inbox, error) {
	slices.SortFunc(all, byPriority)
	box := view.Inbox{Items: make([]view.Item, len(all)), At: at}
	for i := range all {
		if err := json.Unmarshal(all[i].item, &box.Items[i]); err != nil {
			return view.Inbox{}, err
		}
	}
	return box, nil
}

// waitingQuery reads the oldest items of each priority, and in the same look how far the views are: what is not there then
// is not in the record up to that position, however late, or in the making, the views are.
var waitingQuery = "SELECT position, '', NULL FROM view_meta" + strings.Repeat(
	" UNION ALL SELECT * FROM (SELECT ord, id, item FROM view_inbox WHERE ws = ? AND agent = ? AND ord > ? AND ord < ? ORDER BY ord, id LIMIT ? | 0)",
	len(fact.Priorities()))

// waiting gives up to limit items of each priority that came after a position, the oldest, and how far the views are.
func (v *Views) waiting(ctx context.Context, workspace, agent string, after ledger.Position, limit int) (all []waits, at ledger.Position, err error) {
	var args []any
	for rank := range int64(len(fact.Priorities())) {
		args = append(args, workspace, agent, rank<<rankShift|int64(after), (rank+1)<<rankShift, limit) //nolint:gosec // positions fit
	}
	err = v.query(ctx, func(rows *sql.Rows) error {
		var w waits
		if err := rows.Scan(&w.ord, &w.id, &w.item); err != nil {
			return err
		}
		if w.item == nil {
			at = w.at()
			return nil
		}
		all = append(all, w)
		return nil
	}, waitingQuery, args...)
	return all, at, err
}
