package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// ItemType is the kind of an inbox item. The set is closed.
type ItemType string

// The types of inbox items.
const (
	ItemOffer    ItemType = "offer"    // accept or reject
	ItemApproval ItemType = "approval" // approve or deny
	ItemConfirm  ItemType = "confirm"  // confirm, as the source of an explicit handoff that was accepted
	ItemTakeover ItemType = "takeover" // approve or deny, as the source
	ItemShare    ItemType = "share"    // read
	ItemQuestion ItemType = "question" // answer: the agent is asked by name
	ItemStranded ItemType = "stranded" // a child that its parent waits for is in the dead letters: cancel it or have it replayed
	ItemReturned ItemType = "returned" // send the task again, start it or cancel it: nobody took it, and the reader is its requester
	ItemResumed  ItemType = "resumed"  // continue the task: results or an answer have arrived, a handoff has returned, or a takeover was granted

	// Notices of what the reader did not cause. They leave the inbox once they are seen.
	ItemTaken     ItemType = "taken"     // stop working on the task: another agent owns it, or the handoff was taken back
	ItemCancelled ItemType = "cancelled" // stop: the task was cancelled or discarded
	ItemParked    ItemType = "parked"    // stop: the task is in the dead letters
	ItemCompleted ItemType = "completed" // the result of a task that the reader requested is in
	ItemFailed    ItemType = "failed"    // the owner of a task that the reader requested gave up
)

// ItemTypes lists every type of inbox item.
func ItemTypes() []ItemType {
	return []ItemType{
		ItemOffer, ItemApproval, ItemConfirm, ItemTakeover, ItemShare, ItemQuestion, ItemStranded, ItemReturned, ItemResumed,
		ItemTaken, ItemCancelled, ItemParked, ItemCompleted, ItemFailed,
	}
}

// Notice reports whether items of the type are notices.
func (t ItemType) Notice() bool {
	switch t {
	case ItemTaken, ItemCancelled, ItemParked, ItemCompleted, ItemFailed:
		return true
	case ItemOffer, ItemApproval, ItemConfirm, ItemTakeover, ItemShare, ItemQuestion, ItemStranded, ItemReturned, ItemResumed:
	}
	return false
}

// Rank is the rank of an item of an inbox: that of the priority, 0 for the highest, and after the lowest for a notice that stops no work of the reader.
func (t ItemType) Rank(epoch uint64, p event.Priority) int {
	if t.idle(epoch) {
		return Ranks - 1
	}
	return event.Urgent.Rank() - p.Rank()
}

// idle reports whether an item is a notice that stops no work of the reader: nothing waits for the reader to do something.
func (t ItemType) idle(epoch uint64) bool { return t.Notice() && epoch == 0 }

// Item is one item of an agent's inbox. It is a preview: fetch the content by id, or accept the offer to get it.
type Item struct {
	Type     ItemType        `json:"type"`
	ID       string          `json:"id"` // of the handoff, ask, share, ticket, notice, child or, for returned and resumed, task; also the delivery id: duplicates have the same
	Task     string          `json:"task"`
	Offer    int             `json:"offer,omitempty"`
	Epoch    uint64          `json:"epoch,omitempty"` // of the task, where the reader is its source, or was its owner
	From     string          `json:"from"`
	Kind     event.Kind      `json:"kind,omitempty"`
	Claim    bool            `json:"claim,omitempty"`   // other agents have the same offer; the first to accept gets the task
	Channel  string          `json:"channel,omitempty"` // to which it was published
	Reason   event.Reason    `json:"reason,omitempty"`
	Detail   string          `json:"detail,omitempty"` // the first 500 characters
	Intent   string          `json:"intent"`           // the first 500 characters
	Priority event.Priority  `json:"priority"`
	Envelope string          `json:"envelope,omitempty"` // its digest
	Seen     bool            `json:"seen"`
	Since    time.Time       `json:"since"`
	Ends     time.Time       `json:"ends,omitzero"` // when it is passed on, or the task goes to the dead letters, without an answer
	At       ledger.Position `json:"position"`      // of the entry that created the item
}

// InboxFilter narrows an inbox. A zero field does not narrow it.
type InboxFilter struct {
	After Cursor // only items after this
	Limit int    // at most [MaxPage]; 0 means 50
	Turns Turns  // of the senders on earlier pages from the beginning
	Free  bool   // from the beginning: leave out the claims that others hold
}

// mostHeld bounds what is read behind claims that others hold: if they hold more, one of those may come first.
const mostHeld = 1024

// Needs is how many items a page may need. From the beginning it may put off all that others hold.
func (f *InboxFilter) Needs() int {
	if f.After != (Cursor{}) {
		return f.Limit
	}
	return f.Limit + min(f.Turns.Holds, mostHeld)
}

// Inbox is the items that wait for an agent, or a page of them.
type Inbox struct {
	// Items are those of the highest priority first. Within a priority that the reader has not been told anything of, senders take turns, so that the
	// first page shows the oldest of each; otherwise they are in the order of age. On a page that leaves items out, every fourth is
	// for all priorities: see [Turns]. On the first page, claims that another reader was just shown come after the others of their priority, or are left out: see [InboxFilter].Free. Notices that stop no work of the agent come last.
	Items []Item
	// Senders are those of the items, as they take turns.
	Senders []string
	// Partial is whether the page leaves items out.
	Partial bool
	// Next is the cursor of the next page: every waiting item up to it is in Items, or not after the filter's cursor. A
	// caller that asks next for the items after Next misses none, and gets the most urgent of those first of which it was not told.
	Next Cursor
}

// InboxRow is an item of an inbox as a store reads it.
type InboxRow struct {
	Rank int    // 0 is the highest priority, and a rank of its own is after the lowest
	From string // what takes turns: the sender, for each way to send
	At   ledger.Position
	ID   string
}

// group is the items that are in one order of age: those of a sender in a rank.
type group struct {
	rank int
	from string
}

func (w *InboxRow) group() group { return group{w.Rank, w.From} }

func byAge(x, y InboxRow) int { return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.ID, y.ID)) }

// InboxPage returns the page that [TaskQueries.Inbox] lists, and the cursor of the next. all are the items after the filter's
// cursor, the oldest read of each sender in each rank; at is the position of the views. If enough is false the page needs more
// items: call it again with a greater read.
func InboxPage(all []InboxRow, f InboxFilter, read int, at ledger.Position) (page []InboxRow, next Cursor, enough bool) {
	slices.SortFunc(all, byAge)
	var order []placed
	n := min(f.Limit, len(all))
	if f.After == (Cursor{}) {
		rows := number(all)
		var left []placed
		if f.Turns.Held != nil {
			for i := range rows {
				rows[i].held = f.Turns.Held(rows[i].ID)
			}
		}
		if f.Free {
			rows, left = free(rows)
			if n = min(n, len(rows)); n < f.Limit && slices.ContainsFunc(left, func(w placed) bool { return w.nth >= read-1 }) {
				return nil, Cursor{}, false // there may be more behind what others hold
			}
		}
		order = append(inTurn(rows, n, f.Turns), left...)
	} else {
		order, n = goingOn(inOrder(all, f.After), f)
	}
	page, others := make([]InboxRow, n), make([]InboxRow, len(order)-n)
	for i, w := range order {
		switch {
		case i >= n:
			others[i-n] = w.InboxRow
		case w.nth >= read-1: // the next of this sender may belong here, and was not read
			return nil, Cursor{}, false
		default:
			page[i] = w.InboxRow
		}
	}
	return page, f.After.next(page, others, at), true
}

// placed is an item at its place: its number in its group, and its turn, if senders take turns in its rank.
type placed struct {
	InboxRow
	nth, turn int
	held      bool // by another reader
}

// free parts items from those that others hold.
func free(all []placed) (rows, held []placed) {
	for _, w := range all {
		if w.held {
			held = append(held, w)
		} else {
			rows = append(rows, w)
		}
	}
	return rows, held
}

// number gives items, the oldest first, their numbers.
func number(all []InboxRow) []placed {
	of := map[group]int{}
	order := make([]placed, len(all))
	for i := range all {
		g := all[i].group()
		order[i] = placed{InboxRow: all[i], nth: of[g]}
		of[g]++
	}
	return order
}

// inOrder is the items after a cursor that is not the beginning, the oldest first, in the order of priority. In a rank that is at its beginning senders
// take turns.
func inOrder(all []InboxRow, after Cursor) []placed {
	order, turns := number(all), map[group]int{}
	for i := range order {
		if w := &order[i]; after[w.Rank] == 0 {
			g := group{w.Rank, w.Sender()}
			w.turn = turns[g]
			turns[g]++
		}
	}
	slices.SortStableFunc(order, func(x, y placed) int { return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.turn, y.turn)) })
	return order
}

// next is the cursor after a page that left out the others, where the views are at a position. A rank with an item on the page goes on before the
// oldest that was left out of it. A rank of which nothing was told stays where it is, unless only lower ones have others.
func (c Cursor) next(page, others []InboxRow, at ledger.Position) Cursor {
	top, oldest, told := Ranks, [Ranks]ledger.Position{}, [Ranks]bool{}
	for _, w := range others {
		top = min(top, w.Rank)
		if o := oldest[w.Rank]; o == 0 || w.At < o {
			oldest[w.Rank] = w.At
		}
	}
	for _, w := range page {
		told[w.Rank] = true
	}
	for rank := range c {
		switch {
		case told[rank] && oldest[rank] > 0:
			c[rank] = oldest[rank] - 1
		case told[rank] || rank < top:
			c[rank] = max(at, c[rank])
		}
	}
	return c
}
