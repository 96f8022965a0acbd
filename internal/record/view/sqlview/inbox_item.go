package sqlview

import (
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/rowjson"
)

// item is an inbox item: its key, its mutable fields, and its age. The rest follows from the task.
type item struct {
	itemKey
	seen        bool
	epoch       uint64
	envelope    string
	why         string // the reason why a child is stranded
	sender      string // in the table: see schema
	ends, since time.Time
	at          ledger.Position
}

type itemKey struct {
	agent    string
	kind     view.ItemType
	n, offer int    // of the handoff, ask, share, ticket or notice; and of its newest offer
	child    string // the task id of the child that it is about
}

func (i *item) same(o *item) bool {
	return i.seen == o.seen && i.epoch == o.epoch && i.ends.Equal(o.ends) && i.envelope == o.envelope && i.why == o.why && i.at == o.at
}

// idOf is the id of an item.
func (t *taskFold) idOf(i *item) string {
	task := t.id
	switch i.kind {
	case view.ItemTakeover:
		return event.TakeoverID(task, i.n)
	case view.ItemShare:
		return event.ShareID(task, i.n)
	case view.ItemQuestion:
		return event.TicketID(task, i.n)
	case view.ItemTaken, view.ItemCancelled, view.ItemParked, view.ItemCompleted, view.ItemFailed:
		return event.NoticeID(task, i.n)
	case view.ItemStranded:
		return i.child
	case view.ItemReturned, view.ItemResumed:
		return task
	case view.ItemOffer, view.ItemApproval, view.ItemConfirm:
	}
	return t.handoffID(i.n)
}

// rest says in which part of the table it is: see schema.
func (i *item) rest() bool { return strings.HasPrefix(i.sender, view.OtherThanOffer) }

// ord orders an inbox: the highest priority first, then the oldest. Notices that stop no work come last.
func (i *item) ord(p event.Priority) int64 {
	return int64(i.kind.Rank(i.epoch, p))<<rankShift | int64(i.at) //nolint:gosec // positions fit
}

// refresh computes the items after an entry. Existing items keep their age.
func (t *taskFold) refresh(p *projector, e *ledger.Entry) {
	now := t.list(p.scratch[:0])
	p.scratch = now
	if len(now) == 0 {
		t.items = nil
		return
	}
	changed, from := len(now) != len(t.items), 0
	for i := range now {
		n := &now[i]
		n.since, n.at = e.Time, e.Position
		if j := find(t.items, from, n.itemKey); j >= 0 {
			n.since, n.at, n.sender, from = t.items[j].since, t.items[j].at, t.items[j].sender, j+1
		} else {
			n.sender = t.sender(n)
		}
		changed = changed || !n.same(&t.items[i]) || n.itemKey != t.items[i].itemKey
	}
	if changed {
		t.items = slices.Clone(now) // the old list may be that of the tables
	}
}

// find looks for a key among items from an index on. Both lists are in the order of list, so a later item of one is later in
// the other.
func find(items []item, from int, key itemKey) int {
	for i := from; i < len(items); i++ {
		if items[i].itemKey == key {
			return i
		}
	}
	return -1
}

// list appends the current inbox items of the task, always in the same order.
func (t *taskFold) list(items []item) []item {
	s := &t.state
	if h := s.InFlight(); h != nil {
		items = listHandoff(items, s, h)
	}
	source := agentOf(s.Source())
	for _, a := range s.Takeovers {
		items = append(items, item{itemKey: itemKey{agent: source, kind: view.ItemTakeover, n: a.N}, epoch: s.Epoch})
	}
	for _, a := range s.Shares {
		if !a.Read {
			items = append(items, item{itemKey: itemKey{agent: a.To, kind: view.ItemShare, n: a.N}, envelope: a.Envelope})
		}
	}
	if k := s.OpenTicket(); k != nil && k.Kind == event.TicketQuestion && k.To != "" {
		items = append(items, item{itemKey: itemKey{agent: k.To, kind: view.ItemQuestion, n: k.N}, ends: k.Due})
	}
	for i := range s.Notices {
		if n := &s.Notices[i]; !n.Seen {
			items = append(items, item{itemKey: itemKey{agent: n.Agent, kind: view.ItemType(n.Kind), n: n.N}, epoch: n.Epoch})
		}
	}
	return listChildren(items, s, source)
}

// listChildren appends the items on children for the agent that holds the task. Operators see the dead letters themselves.
func listChildren(items []item, s *task.Task, source string) []item {
	if s.Resumed && s.Owner == "" { // operators have requests too
		return append(items, item{itemKey: itemKey{agent: source, kind: view.ItemReturned}, epoch: s.Epoch, ends: s.TakeUpBy})
	}
	if source == "" {
		return items
	}
	for _, c := range s.Stranded() {
		items = append(items, item{itemKey: itemKey{agent: source, kind: view.ItemStranded, child: c.Task}, epoch: s.Epoch, why: preview(c.Why, itemPreview)})
	}
	if s.Resumed {
		items = append(items, item{itemKey: itemKey{agent: source, kind: view.ItemResumed}, epoch: s.Epoch})
	}
	return items
}

func listHandoff(items []item, s *task.Task, h *task.Handoff) []item {
	switch {
	case h.Stage == event.Offered:
		ends := h.OfferEnds
		if !h.AckEnds.IsZero() {
			ends = h.AckEnds
		}
		seen := seenBy(h)
		for _, agent := range h.To {
			items = append(items, item{itemKey: itemKey{agent: agent, kind: view.ItemOffer, n: h.N, offer: h.Offer}, seen: seen(agent), ends: ends, envelope: h.Envelope})
		}
	case h.Stage == event.AwaitingApproval:
		items = append(items, item{itemKey: itemKey{agent: h.Approver, kind: view.ItemApproval, n: h.N}, ends: h.ApprovalEnds, envelope: h.Envelope})
	case h.Stage == event.Accepted && h.Confirm == event.ConfirmExplicit:
		items = append(items, item{
			itemKey: itemKey{agent: agentOf(h.From), kind: view.ItemConfirm, n: h.N}, epoch: s.Epoch, ends: h.ConfirmEnds,
			envelope: h.Envelope,
		})
	}
	return items
}

// seenBy returns a test of whether an agent has seen the offer. Claims may have a thousand receivers.
func seenBy(h *task.Handoff) func(string) bool {
	if len(h.SeenBy) < 16 {
		return func(agent string) bool { return slices.Contains(h.SeenBy, agent) }
	}
	set := make(map[string]bool, len(h.SeenBy))
	for _, agent := range h.SeenBy {
		set[agent] = true
	}
	return func(agent string) bool { return set[agent] }
}

// sender is what an item of the inbox takes turns by, while it waits.
func (t *taskFold) sender(i *item) string {
	s := &t.state
	switch i.kind {
	case view.ItemOffer:
		return shortPrincipal(task.Sender(s, s.Handoff))
	case view.ItemApproval:
		return view.OtherThanOffer + shortPrincipal(task.Sender(s, s.Handoff))
	case view.ItemTakeover:
		return view.OtherThanOffer + s.Takeovers[slices.IndexFunc(s.Takeovers, func(a task.TakeoverRequest) bool { return a.N == i.n })].By
	case view.ItemShare:
		return view.OtherThanOffer + shortPrincipal(s.Shares[slices.IndexFunc(s.Shares, func(a task.Share) bool { return a.N == i.n })].From)
	case view.ItemQuestion:
		return view.OtherThanOffer + shortPrincipal(s.Ticket.By)
	case view.ItemConfirm, view.ItemStranded, view.ItemReturned, view.ItemResumed, view.ItemTaken, view.ItemCancelled, view.ItemParked,
		view.ItemCompleted, view.ItemFailed: // they follow from what the reader does itself
	}
	return view.OtherThanOffer
}

// show returns the item as readers see it.
func (t *taskFold) show(i *item) view.Item {
	s := &t.state
	v := view.Item{
		Type: i.kind, ID: t.idOf(i), Task: t.id, Offer: i.offer, Epoch: i.epoch, Intent: s.Intent, Priority: s.Priority,
		Envelope: i.envelope, Seen: i.seen, Since: i.since, Ends: i.ends, At: i.at,
	}
	switch i.kind {
	case view.ItemTakeover:
		a := s.Takeovers[slices.IndexFunc(s.Takeovers, func(a task.TakeoverRequest) bool { return a.N == i.n })] // list has just found it there
		v.From, v.Detail = a.By, preview(a.Detail, itemPreview)
		return v
	case view.ItemShare:
		a := s.Shares[slices.IndexFunc(s.Shares, func(a task.Share) bool { return a.N == i.n })]
		v.From, v.Detail = shortPrincipal(a.From), t.details[a.N]
		return v
	case view.ItemQuestion:
		v.From, v.Detail = shortPrincipal(s.Ticket.By), preview(s.Ticket.Question, itemPreview)
		return v
	case view.ItemTaken, view.ItemCancelled, view.ItemParked, view.ItemCompleted, view.ItemFailed:
		n := s.Notices.To(i.agent)
		v.From, v.Detail = n.By, n.Why
		return v
	case view.ItemStranded:
		c := s.Children[s.FindChild(i.child)]
		v.From, v.Detail = c.To, i.why
		return v
	case view.ItemReturned, view.ItemResumed:
		v.From, v.Detail = t.resumed.from, t.resumed.why
		return v
	case view.ItemOffer, view.ItemApproval, view.ItemConfirm:
	}
	h := s.Handoff
	v.From, v.Kind, v.Reason, v.Detail = shortPrincipal(h.From), h.Kind, h.Reason, h.Detail
	v.Channel = h.Channel
	if i.kind == view.ItemConfirm {
		v.From = h.Receiver
	}
	v.Claim = i.kind == view.ItemOffer && openClaim(h)
	return v
}

// offer is what all items of an open claim say, under the id of its handoff.
type offer struct{ id, item string }

// offer returns that of the task, if it has an open claim.
func (t *taskFold) offer() offer {
	i := slices.IndexFunc(t.items, func(i item) bool { return i.kind == view.ItemOffer })
	if i < 0 || !openClaim(t.state.Handoff) {
		return offer{}
	}
	v := t.show(&t.items[i])
	v.Seen, v.Since = false, time.Time{}
	return offer{v.ID, string(rowjson.AppendItem(nil, &v))}
}
