package view

import (
	"cmp"
	"slices"
	"strings"
)

// Turns is what earlier pages of an inbox that left items out have given to its senders, so that they take turns from page to page, too:
// otherwise a reader that takes one item at a time would serve the sender of the oldest alone.
type Turns struct {
	Given uint64                     // how many items were on those pages
	Last  func(sender string) uint64 // how many there had been with the last one of a sender; 0 is none. nil: none of anybody
	Held  func(id string) bool       // whether another reader was just shown an open claim: from the beginning, such claims come after the others of their priority. nil: none of any
	Holds int                        // how many claims may be held
}

// OtherThanOffer is what a store puts before the sender of an item that is no offer, in [InboxRow].From: no name contains it.
const OtherThanOffer = "~"

// everyPriority is how many items have one among them that is for all priorities: from the beginning, of the sender that has waited for its
// turn for the longest time; after a cursor, the oldest of the lower priorities that others have items of. The priority of an item is the word of its sender: without this, one that
// calls everything urgent would hide the others.
const everyPriority = 4

// forAll reports whether the item with a number on a page is for all priorities.
func (t Turns) forAll(number int) bool {
	return (t.Given+uint64(number))%everyPriority == everyPriority-1
} //nolint:gosec // never negative

// queue is what one sender has in an inbox, in whichever way it was sent, the items of the highest priority first.
type queue struct {
	last  uint64
	items []placed
}

// inTurn is the items of an inbox, the oldest first, as a page from the beginning takes them: by the turns of their senders up to a limit, and then
// those that it leaves out.
func inTurn(all []placed, limit int, turns Turns) []placed {
	some := limit < len(all)
	if !some {
		turns = Turns{} // the page has everything: nobody's turn is put off
	}
	queues := queuesOf(all, turns)
	order := make([]placed, 0, len(all))
	for len(order) < limit {
		q := nextTurn(queues, some && turns.forAll(len(order)))
		order = append(order, q.items[0])
		q.last, q.items = turns.Given+uint64(len(order)), q.items[1:]
	}
	for _, q := range queues {
		order = append(order, q.items...)
	}
	return order
}

// queuesOf is the senders of items, the oldest first.
func queuesOf(all []placed, turns Turns) (queues []*queue) {
	slices.SortStableFunc(all, func(x, y placed) int {
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), lastIf(x.held, y.held))
	})
	by := map[string]*queue{}
	for _, w := range all {
		q := by[w.Sender()]
		if q == nil {
			q = &queue{}
			if turns.Last != nil {
				q.last = turns.Last(w.Sender())
			}
			by[w.Sender()], queues = q, append(queues, q)
		}
		q.items = append(q.items, w)
	}
	return queues
}

// lastIf compares by what is true of two items: one of which it is true comes after the other.
func lastIf(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}

// nextTurn is the sender whose turn it is: the one whose last turn is the longest time ago, of those with an item of the highest priority
// or, if all is true, of all; one with nothing but what others hold comes after the others.
func nextTurn(queues []*queue, all bool) *queue {
	var next *queue
	for _, q := range queues {
		if len(q.items) == 0 {
			continue
		}
		if next == nil {
			next = q
			continue
		}
		a, b := q.items[0], next.items[0]
		rank := cmp.Compare(a.Rank, b.Rank)
		first := rank
		if all {
			first = 0
		}
		if cmp.Or(first, lastIf(a.held, b.held), cmp.Compare(q.last, next.last), rank, byAge(a.InboxRow, b.InboxRow)) < 0 {
			next = q
		}
	}
	return next
}

// Sender is who takes turns with others: a sender has one, in however many ways it sends. It is empty of what follows from the acts of the
// reader itself.
func (w *InboxRow) Sender() string { return strings.TrimPrefix(w.From, OtherThanOffer) }

// goingOn is the items after a cursor that is not the beginning, in their order, as a page takes them: the first n are on it, no more than the limit,
// and then those that it leaves out. In the order of age the items of an entry stay together, since a cursor cannot point inside it.
func goingOn(order []placed, f InboxFilter) (taken []placed, n int) {
	if len(order) <= f.Limit {
		return order, len(order)
	}
	var ranks [Ranks][]placed
	for _, w := range order {
		ranks[w.Rank] = append(ranks[w.Rank], w)
	}
	taken = make([]placed, 0, len(order))
	for len(taken) < f.Limit {
		r := nextRank(&ranks, f.Turns.forAll(len(taken)))
		unit := 1
		for f.After[r] > 0 && unit < len(ranks[r]) && ranks[r][unit].At == ranks[r][0].At {
			unit++
		}
		if len(taken) > 0 && len(taken)+unit > f.Limit {
			break
		}
		taken, ranks[r] = append(taken, ranks[r][:unit]...), ranks[r][unit:]
	}
	n = len(taken)
	for _, left := range ranks {
		taken = append(taken, left...)
	}
	return taken, n
}

// nextRank is the highest rank with items. If all is true, it is the one of those below it whose next item is the oldest, of those in which a sender has an
// item that has none in a higher one: what one sender has keeps the order of its priorities.
func nextRank(ranks *[Ranks][]placed, all bool) int {
	next, lower, above := -1, -1, map[string]bool{}
	for r, items := range ranks {
		if len(items) == 0 {
			continue
		}
		if next < 0 {
			next = r
			if !all {
				break
			}
		}
		others := false
		for i := range items {
			others = others || !above[items[i].Sender()]
		}
		if r > next && others && (lower < 0 || items[0].At < ranks[lower][0].At) {
			lower = r
		}
		for i := range items {
			above[items[i].Sender()] = true
		}
	}
	if lower >= 0 {
		return lower
	}
	return next
}
