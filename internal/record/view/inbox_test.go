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

// oldest is what a store reads for a page: so many of each sender in each priority after a position.
func oldest(all []view.InboxRow, after view.Cursor, read int) (list []view.InboxRow) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(x, y view.InboxRow) int { return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.ID, y.ID)) })
	type group struct {
		rank int
		from string
	}
	of := map[group]int{}
	for _, w := range all {
		if w.At > after[w.Rank] && of[group{w.Rank, w.From}] < read {
			of[group{w.Rank, w.From}]++
			list = append(list, w)
		}
	}
	return list
}

func TestPagesOfAnInboxLeaveNothingOutAndRepeatNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []view.InboxRow
		last := ledger.Position(1) // the first entry of a record is no item: it registers an agent, or makes a token
		for range rapid.IntRange(0, 12).Draw(t, "entries") {
			last += ledger.Position(rapid.Uint64Range(1, 3).Draw(t, "gap"))
			rank := rapid.IntRange(0, 3).Draw(t, "rank")
			for range rapid.SampledFrom([]int{0, 1, 1, 1, 2, 9}).Draw(t, "of one entry") {
				from := rapid.SampledFrom([]string{"ann", "ann", "ann", "bob", "cy"}).Draw(t, "from")
				all = append(all, view.InboxRow{Rank: rank, At: last, From: from, ID: fmt.Sprint(len(all))})
			}
		}
		after := view.CursorAt(ledger.Position(rapid.Uint64Range(0, 2).Draw(t, "after")))
		told := map[string]int{}
		for calls := 0; after.Least() < last; calls++ {
			f := view.InboxFilter{After: after, Limit: rapid.IntRange(1, 5).Draw(t, "limit")}
			read := rapid.IntRange(1, 6).Draw(t, "read")
			page, next, enough := view.InboxPage(oldest(all, after, read), f, read, last)
			for !enough {
				read *= 2
				page, next, enough = view.InboxPage(oldest(all, after, read), f, read, last)
			}
			if calls > len(all)+1 || next == after {
				t.Fatalf("after %s comes %s", after, next)
			}
			if after == (view.Cursor{}) {
				takesTurns(t, all, page)
			} else {
				mostUrgentFirst(t, all, page, after)
			}
			for _, w := range page {
				if told[w.ID]++; after[w.Rank] > 0 && (w.At <= after[w.Rank] || w.At > next[w.Rank] || told[w.ID] > 2) {
					t.Errorf("%v is not between %s and %s, or comes %d times", w, after, next, told[w.ID])
				}
			}
			for _, w := range all {
				if w.At > f.After[w.Rank] && w.At <= next[w.Rank] && told[w.ID] == 0 {
					t.Errorf("%v was left out of what comes up to %s", w, next)
				}
			}
			after = next
		}
	})
}

// mostUrgentFirst checks that nothing that is left out of a page is more urgent than what is on it, and that a rank after its beginning is in the order of age.
func mostUrgentFirst(t *rapid.T, all, page []view.InboxRow, after view.Cursor) {
	for i, w := range page {
		if i > 0 && (w.Rank < page[i-1].Rank || w.Rank == page[i-1].Rank && after[w.Rank] > 0 && w.At < page[i-1].At) {
			t.Errorf("out of order: %v", page)
		}
		for _, other := range all {
			if other.Rank < w.Rank && other.At > after[other.Rank] && !slices.Contains(page, other) {
				t.Errorf("%v is on the page, and the more urgent %v is not", w, other)
			}
		}
	}
}

// takesTurns checks that a first page is what the senders' turns make of all items.
func takesTurns(t *rapid.T, all, page []view.InboxRow) {
	left := slices.Clone(all)
	slices.SortFunc(left, func(x, y view.InboxRow) int {
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.At, y.At), cmp.Compare(x.ID, y.ID))
	})
	shown := map[string]int{} // of each sender, in the rank at hand
	rank := -1
	for i, w := range page {
		if w.Rank != rank {
			clear(shown)
			rank = w.Rank
		}
		least := -1
		for _, l := range left {
			if l.Rank < w.Rank {
				t.Fatalf("item %d is %v, and %v waits", i, w, l)
			}
			if l.Rank == w.Rank && (least < 0 || shown[l.From] < least) {
				least = shown[l.From]
			}
		}
		k := slices.IndexFunc(left, func(l view.InboxRow) bool { return l.Rank == w.Rank && l.From == w.From })
		if k < 0 || left[k].ID != w.ID || shown[w.From] > least {
			t.Fatalf("item %d is %v of %s, which has had %d turns where another has had %d", i, w, w.From, shown[w.From], least)
		}
		shown[w.From]++
		left = slices.Delete(left, k, k+1)
	}
}
