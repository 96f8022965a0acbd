package view

import (
	"cmp"
	"slices"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Waiting is an item of an inbox as a store has it.
type Waiting struct {
	Rank int // 0 is the highest priority
	At   ledger.Position
	ID   string
	Row  []byte
}

func byPriority(x, y Waiting) int {
	return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.At, y.At), cmp.Compare(x.ID, y.ID))
}

func byAge(x, y Waiting) int { return cmp.Or(cmp.Compare(x.At, y.At), byPriority(x, y)) }

// PageOf is what [Board] lists of an inbox, and where to go on. all is the most items after the filter's position, the oldest
// of each priority, of which there is read, more than the limit; at is how far the views were. It is not enough if the page
// needs more of them.
func PageOf(all []Waiting, f InboxFilter, read int, at ledger.Position) (page []Waiting, next ledger.Position, enough bool) {
	limit := min(f.Limit, len(all))
	if f.After == 0 { // the highest priority; one goes on before the oldest that is left out
		slices.SortFunc(all, byPriority)
		for _, w := range all[limit:] {
			at = min(at, w.At-1)
		}
		return all[:limit], at, true
	}
	if limit == len(all) {
		slices.SortFunc(all, byPriority)
		return all, max(at, f.After), true
	}
	slices.SortFunc(all, byAge)
	n := limit // no position lies within what came with one entry
	for n > 0 && all[n-1].At == all[n].At {
		n--
	}
	if n == 0 {
		for n < len(all) && all[n].At == all[0].At {
			n++
		}
	}
	next = all[n-1].At
	slices.SortFunc(all[:n], byPriority)
	return all[:n], next, n < read
}
