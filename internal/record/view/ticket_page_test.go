package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// rest is what comes after a cursor, as stores select it.
func rest(all []DueTicket, c TicketCursor, order TicketOrder) (after []DueTicket) {
	at := func(id string) DueTicket {
		return all[slices.IndexFunc(all, func(k DueTicket) bool { return k.ID == id })]
	}
	compare := func(k DueTicket, p TicketPlace) int {
		due := p.Due
		if order != TicketsByDue {
			due = k.Due
		}
		return cmp.Or(cmp.Compare(k.Due, due), cmp.Compare(k.At, at(p.ID).At))
	}
	for _, k := range all {
		keep := c.Whole.ID == "" || compare(k, c.Whole) > 0 || slices.ContainsFunc(c.Left, func(p TicketPlace) bool {
			return at(p.ID).From == k.From && compare(k, p) >= 0
		})
		if keep && (c.After.ID == "" || compare(k, c.After) > 0) {
			after = append(after, k)
		}
	}
	return after
}

// Over its pages a list has each ticket once, however askers take turns on the first page, and each cursor is read as it was written.
func TestEachTicketIsOnOnePage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.SampledFrom([]TicketOrder{TicketsByAge, TicketsByDue}).Draw(t, "order")
		var all []DueTicket
		for n := range rapid.IntRange(1, 60).Draw(t, "tickets") {
			k := DueTicket{InboxRow: InboxRow{ID: fmt.Sprintf("task_%026d.k1", n), At: ledger.Position(n + 1), From: rapid.SampledFrom([]string{"", "ann", "bob", "cat"}).Draw(t, "from")}} //nolint:gosec // small
			if order == TicketsByDue {
				k.Due = rapid.Int64Range(1, 20).Draw(t, "due")
			}
			all = append(all, k)
		}
		slices.SortFunc(all, func(x, y DueTicket) int { return cmp.Or(cmp.Compare(x.Due, y.Due), cmp.Compare(x.At, y.At)) })
		limit := rapid.IntRange(1, 20).Draw(t, "limit")
		page, next := TicketsInTurn(all, order, limit, Turns{})
		seen := map[string]int{}
		for {
			if !slices.IsSortedFunc(page, func(x, y DueTicket) int { return cmp.Or(cmp.Compare(x.Due, y.Due), cmp.Compare(x.At, y.At)) }) || len(page) > limit {
				t.Fatalf("a page of %d is %v", limit, page)
			}
			for _, k := range page {
				seen[k.ID]++
			}
			if next.IsZero() {
				break
			}
			read, err := ParseTicketCursor(next.String())
			if err != nil || read.String() != next.String() {
				t.Fatalf("%q is read as %q: %v", next, read, err)
			}
			left := rest(all, read, order)
			if page = left[:min(limit, len(left))]; len(page) < limit {
				next = TicketCursor{}
				continue
			}
			last := page[len(page)-1]
			next = TicketCursor{After: placeOf(last, order), Whole: read.Whole, Left: read.Left}
		}
		for _, k := range all {
			if seen[k.ID] != 1 {
				t.Fatalf("%s of %q is on %d pages", k.ID, k.From, seen[k.ID])
			}
		}
	})
}

func TestACursorOfTicketsThatIsNoneIsRefused(t *testing.T) {
	id := "task_06h1zctvebvm2hvmt4xpvd8b4r.k1"
	for _, text := range []string{id, "12-" + id, "~12-" + id + "~3-" + id, "12-" + id + "~12-" + id + "~3-" + id + "~5-" + id} {
		if c, err := ParseTicketCursor(text); err != nil || c.String() != text || c.IsZero() {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
	for _, text := range []string{"0", "~", "x", "x-" + id, id + "~" + id, "~~" + id, "~" + id + "~", "~" + id + strings.Repeat("~"+id, MaxPage+1), "12-", "1-2-" + id} {
		if c, err := ParseTicketCursor(text); err == nil {
			t.Errorf("%.60q is taken as %+v", text, c)
		}
	}
}
