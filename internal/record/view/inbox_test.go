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

// newItems draws what some entries after a position put into an inbox, and the position of the last.
func newItems(t *rapid.T, all []view.InboxRow, last ledger.Position, entries int) ([]view.InboxRow, ledger.Position) {
	for range entries {
		last += ledger.Position(rapid.Uint64Range(1, 3).Draw(t, "gap"))
		rank := rapid.IntRange(0, view.Ranks-1).Draw(t, "rank")
		for range rapid.SampledFrom([]int{0, 1, 1, 1, 2, 9}).Draw(t, "of one entry") {
			from := rapid.SampledFrom([]string{"ann", "ann", "~ann", "bob", "cy"}).Draw(t, "from")
			all = append(all, view.InboxRow{Rank: rank, At: last, From: from, ID: fmt.Sprint(len(all))})
		}
	}
	return all, last
}

func TestPagesOfAnInboxLeaveNothingOutAndRepeatNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// The first entry of a record is no item: it registers an agent, or makes a token.
		all, last := newItems(t, nil, 1, rapid.IntRange(0, 12).Draw(t, "entries"))
		after := view.CursorAt(ledger.Position(rapid.Uint64Range(0, 2).Draw(t, "after")))
		turns := view.Turns{Given: rapid.Uint64Range(0, 9).Draw(t, "given")}
		had := map[string]uint64{"ann": rapid.Uint64Range(0, turns.Given).Draw(t, "ann"), "bob": rapid.Uint64Range(0, turns.Given).Draw(t, "bob")}
		turns.Last = func(sender string) uint64 { return had[sender] }
		if rapid.Bool().Draw(t, "others look") {
			held := map[string]bool{}
			for _, w := range all {
				held[w.ID] = rapid.Bool().Draw(t, "held")
			}
			turns.Held, turns.Holds = heldIn(held), len(held)
		}
		told, more := map[string]int{}, 0 // times that others came between two pages
		for calls := 0; after.Least() < last; calls++ {
			f := view.InboxFilter{After: after, Limit: rapid.IntRange(1, 5).Draw(t, "limit"), Turns: turns}
			read := rapid.IntRange(1, 6).Draw(t, "read")
			page, next, enough := view.InboxPage(oldest(all, after, read), f, read, last)
			for !enough {
				read *= 2
				page, next, enough = view.InboxPage(oldest(all, after, read), f, read, last)
			}
			if calls > len(all)+1+more || next == after {
				t.Fatalf("after %s comes %s", after, next)
			}
			for rank := range after {
				if next[rank] < after[rank] {
					t.Fatalf("after %s comes %s", after, next)
				}
			}
			switch {
			case after == (view.Cursor{}) && turns.Held == nil:
				takesTurns(t, all, page, turns)
			case after != (view.Cursor{}):
				mostUrgentFirst(t, all, page, f)
				eachInTurn(t, all, page, after)
			}
			for _, w := range page {
				if told[w.ID]++; w.At <= after[w.Rank] || after[w.Rank] > 0 && w.At > next[w.Rank] || told[w.ID] > 2 {
					t.Errorf("%v is not between %s and %s, or comes %d times", w, after, next, told[w.ID])
				}
			}
			for _, w := range all {
				if w.At > f.After[w.Rank] && w.At <= next[w.Rank] && told[w.ID] == 0 {
					t.Errorf("%v was left out of what comes up to %s", w, next)
				}
				if next[w.Rank] == 0 && told[w.ID] > 0 {
					t.Errorf("%v was told, and its rank is at its beginning after %s", w, next)
				}
			}
			after = next
			if n := rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "entries between"); n > 0 && more < 8 {
				all, last = newItems(t, all, last, n)
				more++
			}
		}
	})
}

// mostUrgentFirst checks that each item on a page after a cursor is the next of the highest rank that waits or, for every fourth of a page that leaves items
// out, of the one below it whose next is the oldest, of those in which a sender has an item that has none in a higher one; but the items of an entry stay together. The next of a rank is the oldest, or that of the sender whose turn it is.
func mostUrgentFirst(t *rapid.T, all, page []view.InboxRow, f view.InboxFilter) {
	turn := func(w view.InboxRow) (n int) {
		for _, o := range all {
			if f.After[w.Rank] == 0 && o.Rank == w.Rank && o.Sender() == w.Sender() && (o.At < w.At || o.At == w.At && o.ID < w.ID) {
				n++
			}
		}
		return n
	}
	left := slices.DeleteFunc(slices.Clone(all), func(w view.InboxRow) bool { return w.At <= f.After[w.Rank] })
	some := len(page) < len(left)
	for i, w := range page {
		var next []view.InboxRow // of each rank, the highest first
		for rank := range f.After {
			of := slices.DeleteFunc(slices.Clone(left), func(l view.InboxRow) bool { return l.Rank != rank })
			if len(of) > 0 {
				next = append(next, slices.MinFunc(of, func(x, y view.InboxRow) int {
					return cmp.Or(cmp.Compare(turn(x), turn(y)), cmp.Compare(x.At, y.At), cmp.Compare(x.ID, y.ID))
				}))
			}
		}
		want := next[0]
		if some && (f.Turns.Given+uint64(i))%4 == 3 && len(next) > 1 {
			highest := map[string]int{}
			for _, l := range left {
				if rank, has := highest[l.Sender()]; !has || l.Rank < rank {
					highest[l.Sender()] = l.Rank
				}
			}
			if lower := slices.DeleteFunc(slices.Clone(next[1:]), func(w view.InboxRow) bool {
				return !slices.ContainsFunc(left, func(l view.InboxRow) bool { return l.Rank == w.Rank && highest[l.Sender()] == l.Rank })
			}); len(lower) > 0 {
				want = slices.MinFunc(lower, func(x, y view.InboxRow) int { return cmp.Compare(x.At, y.At) })
			}
		}
		if i > 0 && w.At == page[i-1].At && w.Rank == page[i-1].Rank && f.After[w.Rank] > 0 {
			want = next[slices.IndexFunc(next, func(l view.InboxRow) bool { return l.Rank == w.Rank })]
		}
		if w != want {
			t.Fatalf("item %d is %v, want %v: %v", i, w, want, page)
		}
		left = slices.DeleteFunc(left, func(l view.InboxRow) bool { return l.ID == w.ID })
	}
}

// eachInTurn checks that in a rank that is at its beginning no sender has more on a page than another that has more to come.
func eachInTurn(t *rapid.T, all, page []view.InboxRow, after view.Cursor) {
	for rank := range after {
		if after[rank] > 0 {
			continue
		}
		waits, shown := map[string]int{}, map[string]int{}
		for _, w := range all {
			if w.Rank == rank {
				waits[w.Sender()]++
			}
		}
		for _, w := range page {
			if w.Rank != rank {
				continue
			}
			for other, n := range waits {
				if shown[other] < min(shown[w.Sender()], n) {
					t.Errorf("%v has a turn before %s has had as many: %v", w, other, page)
				}
			}
			shown[w.Sender()]++
		}
	}
}

// takesTurns checks that a first page is what the senders' turns make of all items: each is the oldest of the highest priority of its sender,
// whose last turn is the longest time ago, of those with an item of the highest priority or, for every fourth, of all.
func takesTurns(t *rapid.T, all, page []view.InboxRow, turns view.Turns) {
	left := slices.Clone(all)
	slices.SortFunc(left, func(x, y view.InboxRow) int {
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.At, y.At), cmp.Compare(x.ID, y.ID))
	})
	last := map[string]uint64{}
	for _, from := range []string{"ann", "bob", "cy"} {
		if turns.Last != nil && len(page) < len(all) {
			last[from] = turns.Last(from)
		}
	}
	for i, w := range page {
		given := uint64(i)
		if len(page) < len(all) {
			given += turns.Given
		}
		every := len(page) < len(all) && given%4 == 3
		for _, l := range left {
			switch {
			case l.Sender() == w.Sender() && l.ID != w.ID:
				if l.Rank < w.Rank || l.Rank == w.Rank && l.At < w.At {
					t.Fatalf("item %d is %v, and %v of the same sender waits", i, w, l)
				}
			case !every && l.Rank < w.Rank:
				t.Fatalf("item %d is %v, and %v waits", i, w, l)
			case (every || l.Rank == w.Rank) && last[l.Sender()] < last[w.Sender()]:
				t.Fatalf("item %d is %v, whose sender had a turn at %d, and %v waits, of %d", i, w, last[w.Sender()], l, last[l.Sender()])
			}
		}
		k := slices.IndexFunc(left, func(l view.InboxRow) bool { return l.ID == w.ID })
		if k < 0 {
			t.Fatalf("item %d is %v, which does not wait", i, w)
		}
		last[w.Sender()] = given + 1
		left = slices.Delete(left, k, k+1)
	}
}

// A reader that takes one item at a time serves every sender, whatever each says of the priority of its work.
func TestSendersTakeTurnsFromPageToPage(t *testing.T) {
	var all []view.InboxRow
	add := func(rank int, from string) {
		at := ledger.Position(len(all) + 1)
		all = append(all, view.InboxRow{Rank: rank, At: at, From: from, ID: fmt.Sprint(at)})
	}
	for range 100 {
		add(0, "junk")
		add(0, view.OtherThanOffer+"junk")
	}
	for range 3 {
		add(0, "urgent")
		add(2, "normal")
	}
	for _, limit := range []int{1, 2, 3, 5} {
		waits, turns, served := slices.Clone(all), view.Turns{}, ""
		last := map[string]uint64{}
		turns.Last = func(sender string) uint64 { return last[sender] }
		for len(served) < 24 {
			page, _, enough := view.InboxPage(slices.Clone(waits), view.InboxFilter{Limit: limit, Turns: turns}, len(waits)+1, 1000)
			if !enough || len(page) != limit {
				t.Fatalf("%d items", len(page))
			}
			for _, w := range page {
				turns.Given++
				last[w.Sender()] = turns.Given
				served += w.Sender()[:1]
				waits = slices.DeleteFunc(waits, func(o view.InboxRow) bool { return o.ID == w.ID })
			}
		}
		if want := "jujnujunjjjnjjjjjjjjjjjj"; served[:24] != want {
			t.Errorf("with %d at a time: %s, want %s", limit, served[:24], want)
		}
	}
}

// A reader that goes on from page to page comes to what is not urgent, however much that is comes in the meantime.
func TestWhatIsUrgentDoesNotHideTheRestAfterACursor(t *testing.T) {
	for _, limit := range []int{1, 2, 3, 5, 50} {
		var waits []view.InboxRow
		last := ledger.Position(1)
		add := func(n, rank int, from string) {
			for range n {
				last++
				waits = append(waits, view.InboxRow{Rank: rank, At: last, From: from, ID: fmt.Sprint(last)})
			}
		}
		add(200, 0, "junk")
		add(3, 2, "honest")
		add(3, 3, "other")
		after, turns, served := view.CursorAt(1), view.Turns{}, map[string]int{}
		for given := 0; given < 40; {
			page, next, enough := view.InboxPage(oldest(waits, after, len(waits)+1), view.InboxFilter{After: after, Limit: limit, Turns: turns}, len(waits)+1, last)
			if !enough || len(page) != limit {
				t.Fatalf("%d items", len(page))
			}
			for _, w := range page {
				turns.Given++
				given++
				served[w.From]++
			}
			after = next
			add(2*limit, 0, "junk")
		}
		if served["honest"] != 3 || served["other"] != 3 {
			t.Errorf("%d at a time: of 40 items %v", limit, served)
		}
	}
}

func heldIn(ids map[string]bool) func(string) bool { return func(id string) bool { return ids[id] } }

func TestClaimsThatOthersHoldComeAfterTheRestOfTheirPriority(t *testing.T) {
	var all []view.InboxRow
	for i, from := range []string{"ann", "ann", "ann", "bob", "cy"} {
		all = append(all, view.InboxRow{Rank: 1 + i/4, At: ledger.Position(i + 1), From: from, ID: fmt.Sprint(i + 1)})
	}
	for _, c := range []struct{ held, one, all string }{{"", "1", "14235"}, {"1", "2", "24315"}, {"124", "3", "34125"}, {"5", "1", "14235"}, {"12345", "1", "14235"}} {
		held := map[string]bool{}
		for _, id := range c.held {
			held[string(id)] = true
		}
		turns := view.Turns{Held: heldIn(held), Holds: len(held)}
		for limit, want := range map[int]string{1: c.one, len(all): c.all} {
			page, next, enough := view.InboxPage(slices.Clone(all), view.InboxFilter{Limit: limit, Turns: turns}, len(all)+2, 10)
			got := ""
			for _, w := range page {
				got += w.ID
			}
			if got != want || !enough {
				t.Errorf("held %s: %s, want %s", c.held, got, want)
			}
			if oldest := ledger.Position(1); limit == 1 && got != "1" && next[1] >= oldest {
				t.Errorf("held %s: the cursor %s is after what was left out", c.held, next)
			}
		}
	}
}

func TestAPageOfWhatIsFreeLeavesOutWhatOthersHold(t *testing.T) {
	var all []view.InboxRow
	for i := range 20 {
		all = append(all, view.InboxRow{Rank: 1 + i/18, At: ledger.Position(i + 1), From: "ann", ID: fmt.Sprint(i + 1)})
	}
	held := func(id string) bool { return id != "17" && id != "19" }
	read := 2
	f := view.InboxFilter{Limit: 10, Free: true, Turns: view.Turns{Held: held}}
	page, next, enough := view.InboxPage(oldest(all, f.After, read), f, read, 20)
	for ; !enough; read *= 2 {
		page, next, enough = view.InboxPage(oldest(all, f.After, 2*read), f, 2*read, 20)
	}
	if len(page) != 2 || page[0].ID != "17" || page[1].ID != "19" || next[1] != 0 || next[2] != 19 {
		t.Errorf("%v, and then what is after %s", page, next)
	}
}

func TestAPageNeedsMoreForWhatOthersHoldOnlyFromTheBeginning(t *testing.T) {
	for _, c := range []struct {
		after      view.Cursor
		held, want int
	}{{view.Cursor{}, 1000, 1010}, {view.Cursor{}, 3000, 1034}, {view.CursorAt(1), 1000, 10}} {
		f := view.InboxFilter{After: c.after, Limit: 10, Turns: view.Turns{Holds: c.held}}
		if got := f.Needs(); got != c.want {
			t.Errorf("after %s, %d are held: %d, want %d", c.after, c.held, got, c.want)
		}
	}
}
