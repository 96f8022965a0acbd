package view

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// DueTicket is a ticket on the way to a page: its asker is From, and when it is due is in microseconds.
type DueTicket struct {
	InboxRow
	Due int64
}

// dueTurn is the part of a first page by due time that is one turn of an asker: a fourth. When a ticket is due is its asker's word.
const dueTurn = 4

// TicketsInTurn chooses a first page of tickets, of which the askers take turns, and the cursor of the next page. all are the tickets in the order of the list, at
// least one more of each asker than the limit if it has more. By due time, a turn is of a fourth of the page, and turns do not count.
func TicketsInTurn(all []DueTicket, order TicketOrder, limit int, turns Turns) (page []DueTicket, next TicketCursor) {
	if len(all) <= limit {
		return all, next
	}
	var taken map[string]bool
	if order == TicketsByDue {
		taken = takenByDue(all, limit)
	} else {
		taken = takenByAge(all, limit, turns)
	}
	for i := range all {
		if taken[all[i].ID] {
			page = append(page, all[i])
		}
	}
	return page, cursorAfter(all, taken, page[len(page)-1], order)
}

// takenByAge is the tickets of a first page by age: of each asker the oldest ones.
func takenByAge(all []DueTicket, limit int, turns Turns) map[string]bool {
	rows := make([]InboxRow, len(all))
	for i := range all {
		rows[i] = all[i].InboxRow
	}
	taken := make(map[string]bool, limit)
	for _, w := range inTurn(number(rows), limit, turns)[:limit] {
		taken[w.ID] = true
	}
	return taken
}

// takenByDue is the tickets of a first page by due time: of each asker those that are due first.
func takenByDue(all []DueTicket, limit int) map[string]bool {
	had, taken, left := map[string]int{}, make(map[string]bool, limit), limit
	turn := (limit + dueTurn - 1) / dueTurn
	for most := turn; left > 0; most += turn {
		for i := range all {
			if from := all[i].Sender(); left > 0 && !taken[all[i].ID] && had[from] < most {
				taken[all[i].ID], had[from], left = true, had[from]+1, left-1
			}
		}
	}
	return taken
}

// cursorAfter is the cursor after a page on which each asker has the first of its tickets.
func cursorAfter(all []DueTicket, taken map[string]bool, last DueTicket, order TicketOrder) TicketCursor {
	next, left := TicketCursor{Whole: placeOf(last, order)}, map[string]bool{}
	for i := range all {
		if all[i].ID == last.ID {
			break
		}
		if from := all[i].Sender(); !taken[all[i].ID] && !left[from] {
			left[from] = true
			next.Left = append(next.Left, placeOf(all[i], order))
		}
	}
	if len(next.Left) == 0 {
		return TicketCursor{After: next.Whole}
	}
	return next
}

func placeOf(k DueTicket, order TicketOrder) TicketPlace {
	p := TicketPlace{ID: k.ID}
	if order == TicketsByDue {
		p.Due = k.Due
	}
	return p
}

// TicketPlace is the place of a ticket in a list. When a ticket is due changes: the place is where it was. The zero value is no place.
type TicketPlace struct {
	ID  string
	Due int64 // in microseconds, by due time; 0: as it is now
}

// TicketCursor is where a page of a list of tickets begins. The zero value is the beginning.
type TicketCursor struct {
	After TicketPlace // the last ticket of the previous page
	// Whole is up to where each asker had its turn on the first page, if that left tickets out before it: up to there, the list has only those that were left out.
	// Left are the first of them, one of each such asker.
	Whole TicketPlace
	Left  []TicketPlace
}

// IsZero reports whether this is the beginning.
func (c TicketCursor) IsZero() bool { return c.After.ID == "" && c.Whole.ID == "" }

// Next is the cursor of the page after the one that begins here and ends with last.
func (c TicketCursor) Next(last *TicketRow, order TicketOrder) TicketCursor {
	n := c
	n.After = TicketPlace{ID: last.ID}
	if order == TicketsByDue {
		n.After.Due = Microseconds(last.Due)
	}
	return n
}

// Microseconds is a time as a number that orders as times do; 0: there is none.
func Microseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// ParseTicketCursor reads a cursor as [TicketCursor.String] writes it, or the id of a ticket, after which the list goes on.
func ParseTicketCursor(text string) (c TicketCursor, err error) {
	if text == "" {
		return c, nil
	}
	list := strings.Split(text, "~")
	places := make([]TicketPlace, len(list))
	for i, part := range list {
		if places[i], err = parsePlace(part); err != nil {
			return TicketCursor{}, refusal.New(refusal.Invalid, "give next of the page before, or the id of a ticket", "%.100q is not the cursor of a list of tickets", text)
		}
	}
	if c.After = places[0]; len(places) > 2 {
		c.Whole, c.Left = places[1], places[2:]
	}
	if len(places) == 2 || len(c.Left) > MaxPage || slices.ContainsFunc(places[1:], func(p TicketPlace) bool { return p.ID == "" }) || c.IsZero() {
		return TicketCursor{}, refusal.New(refusal.Invalid, "give next of the page before, or the id of a ticket", "%.100q is not the cursor of a list of tickets", text)
	}
	return c, nil
}

// parsePlace reads a place: DUE-ID, ID or nothing.
func parsePlace(text string) (p TicketPlace, err error) {
	if text == "" {
		return p, nil
	}
	if due, id, ok := strings.Cut(text, "-"); ok {
		if p.Due, err = strconv.ParseInt(due, 10, 64); err != nil {
			return p, err
		}
		text = id
	}
	p.ID = text
	_, _, err = event.ParseTicketID(text)
	return p, err
}

// String is the cursor as text: the places with "~" between them.
func (c TicketCursor) String() string {
	parts := []string{c.After.text()}
	if c.Whole.ID != "" {
		parts = append(parts, c.Whole.text())
		for _, p := range c.Left {
			parts = append(parts, p.text())
		}
	}
	return strings.Join(parts, "~")
}

func (p TicketPlace) text() string {
	if p.Due == 0 {
		return p.ID
	}
	return strconv.FormatInt(p.Due, 10) + "-" + p.ID
}
