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
	After ledger.Position // only items after this position
	Limit int             // at most [MaxPage]; 0 means 50
}

// Inbox is the items that wait for an agent, or a page of them.
type Inbox struct {
	// Items are those of the highest priority first. After no position, senders take turns within a priority, so that the first
	// page shows the oldest of each; after one, they are in the order of age. Notices that stop no work of the agent come last.
	Items []Item
	// At is the cursor of the next page: every waiting item up to it is in Items, or not after the filter's position. A
	// caller that asks next for the items after At misses none, and gets none twice.
	At ledger.Position
}

// InboxRow is an item of an inbox as a store reads it.
type InboxRow struct {
	Rank int    // 0 is the highest priority, and a rank of its own is after the lowest
	From string // what takes turns: the sender, for each way to send
	At   ledger.Position
	ID   string
}

func byPriority(x, y InboxRow) int {
	return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.At, y.At), cmp.Compare(x.ID, y.ID))
}

func byAge(x, y InboxRow) int { return cmp.Or(cmp.Compare(x.At, y.At), byPriority(x, y)) }

// group is the items that are in one order of age: those of a sender in a priority.
type group struct {
	rank int
	from string
}

func (w *InboxRow) group() group { return group{w.Rank, w.From} }

// InboxPage returns the page that [TaskQueries.Inbox] lists, and the cursor of the next. all are the items after the filter's
// position, the oldest read of each sender in each priority; at is the position of the views. If enough is false the page needs more
// items: call it again with a greater read.
func InboxPage(all []InboxRow, f InboxFilter, read int, at ledger.Position) (page []InboxRow, next ledger.Position, enough bool) {
	limit := min(f.Limit, len(all))
	if f.After == 0 {
		return firstPage(all, limit, read, at)
	}
	slices.SortFunc(all, byAge)
	cut := false // there may be more items of a sender than were read
	of, turn := map[group]int{}, make([]int, len(all))
	for i := range all {
		g := all[i].group()
		turn[i] = of[g]
		of[g]++
		cut = cut || of[g] >= read
	}
	if limit == len(all) {
		slices.SortFunc(all, byPriority)
		return all, max(at, f.After), !cut
	}
	n := limit // a cursor cannot point inside an entry
	for n > 0 && all[n-1].At == all[n].At {
		n--
	}
	if n == 0 {
		for n < len(all) && all[n].At == all[0].At {
			n++
		}
	}
	if slices.Contains(turn[:n], read-1) { // the next of this sender may belong here, and was not read
		return nil, 0, false
	}
	next = all[n-1].At
	slices.SortFunc(all[:n], byPriority)
	return all[:n], next, true
}

// firstPage is the items of the highest priority, of which senders take turns: the oldest of each, then the second of each, and so
// on. The next page begins before the oldest item that is not on this one.
func firstPage(all []InboxRow, limit, read int, at ledger.Position) (page []InboxRow, next ledger.Position, enough bool) {
	slices.SortFunc(all, byPriority)
	of := map[group]int{}
	turn := make([]int, len(all))
	order := make([]int, len(all))
	for i := range all {
		g := all[i].group()
		turn[i], order[i] = of[g], i
		of[g]++
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(all[x].Rank, all[y].Rank), cmp.Compare(turn[x], turn[y]))
	})
	page = make([]InboxRow, 0, limit)
	for _, i := range order[:limit] {
		if turn[i] == read-1 { // the next of this sender may belong here, and was not read
			return nil, 0, false
		}
		page = append(page, all[i])
	}
	for _, i := range order[limit:] {
		at = min(at, all[i].At-1)
	}
	return page, at, true
}
