package view_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// oldest is what a store reads for a page: so many of each priority after a position.
func oldest(all []view.InboxRow, after ledger.Position, read int) (list []view.InboxRow) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(x, y view.InboxRow) int { return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.ID, y.ID)) })
	of := map[int]int{}
	for _, w := range all {
		if w.At > after && of[w.Rank] < read {
			of[w.Rank]++
			list = append(list, w)
		}
	}
	return list
}

func TestPagesOfAnInboxLeaveNothingOutAndRepeatNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []view.InboxRow
		last := ledger.Position(0)
		for range rapid.IntRange(0, 12).Draw(t, "entries") {
			last += ledger.Position(rapid.Uint64Range(1, 3).Draw(t, "gap"))
			rank := rapid.IntRange(0, 3).Draw(t, "rank")
			for range rapid.SampledFrom([]int{0, 1, 1, 1, 2, 9}).Draw(t, "of one entry") {
				all = append(all, view.InboxRow{Rank: rank, At: last, ID: fmt.Sprint(len(all))})
			}
		}
		after := ledger.Position(rapid.Uint64Range(0, 2).Draw(t, "after"))
		told := map[string]int{}
		for calls := 0; after < last; calls++ {
			f := view.InboxFilter{After: after, Limit: rapid.IntRange(1, 5).Draw(t, "limit")}
			read := f.Limit + 1
			page, next, enough := view.InboxPage(oldest(all, after, read), f, read, last)
			for !enough {
				read *= 2
				page, next, enough = view.InboxPage(oldest(all, after, read), f, read, last)
			}
			if calls > len(all)+1 || next < after || after > 0 && next == after {
				t.Fatalf("after %d comes %d", after, next)
			}
			if !slices.IsSortedFunc(page, func(x, y view.InboxRow) int { return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.At, y.At)) }) {
				t.Errorf("out of order: %v", page)
			}
			for _, w := range page {
				if told[w.ID]++; after > 0 && (w.At <= after || w.At > next) {
					t.Errorf("%v is not between %d and %d", w, after, next)
				}
			}
			for _, w := range all {
				if w.At > f.After && w.At <= next && told[w.ID] == 0 {
					t.Errorf("%v was left out of what comes up to %d", w, next)
				}
			}
			if after = next; after == 0 {
				return // nothing can be said to be known: the first item is at the first position
			}
		}
	})
}
