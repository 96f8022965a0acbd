package quota

import (
	"context"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/view"
)

const (
	defaultMaxWaiting = 1000
	waitingCached     = 16_384 // pairs of sender and receiver
	retrySeconds      = 10     // when some may have been answered
	sharedPart        = 16     // of several servers, each lets a part in so many of what is free through before it counts again
)

// Waiting bounds what one sender has in the inbox of one receiver, or at one desk, so that nobody can fill them. It is advisory and cheap:
// items are only added until the bound seems to be reached, and then counted in the views. So there may be more by what is under way. One of several
// servers of a record counts again after a sixteenth of what it found free: each beside the first adds a sixteenth of the bound at most.
type Waiting struct {
	most   int
	shared bool
	views  view.Store
	mu     sync.Mutex
	known  simplelru.LRUCache[string, waits]
}

// waits is how many items wait, at most, and the number at which they are counted again.
type waits struct {
	n, until int
	counting bool // of several servers: a call counts, and others are let through meanwhile
}

// NewWaiting returns a bound of what waits of each sender at each receiver and each desk; 0 means 1,000. shared: other servers let items through, too.
func NewWaiting(most int, v view.Store, shared bool) (*Waiting, error) {
	if most <= 0 {
		most = defaultMaxWaiting
	}
	known, err := lru.New[string, waits](waitingCached)
	return &Waiting{most: most, shared: shared, views: v, known: known}, err
}

// Admit counts one more item of a sender, a principal, in the inbox of a receiver, or refuses it (overloaded).
func (o *Waiting) Admit(ctx context.Context, workspace, sender, receiver string) error {
	name := strings.TrimPrefix(sender, "agent/")
	return o.admit(workspace+"/"+receiver+"/"+name, name, receiver, func() (int, error) {
		return o.views.SentCount(ctx, workspace, receiver, name, o.most)
	})
}

// ticket admits a ticket of an agent to the inbox of whom it asks by name, to its desk, and to the desk that has it next: all are people's.
func (o *Waiting) ticket(ctx context.Context, workspace string, e event.TicketOpened) error {
	if e.To != "" {
		if err := o.Admit(ctx, workspace, e.By, e.To); err != nil {
			return err
		}
	}
	if err := o.atDesk(ctx, workspace, e.By, e.Desk); err != nil || e.Then == "" || e.Then == e.Desk {
		return err
	}
	return o.atDesk(ctx, workspace, e.By, e.Then)
}

// atDesk is Admit of a ticket of an agent at a desk.
func (o *Waiting) atDesk(ctx context.Context, workspace, sender, desk string) error {
	name := strings.TrimPrefix(sender, "agent/")
	if strings.Contains(name, "/") { // an operator
		return nil
	}
	return o.admit(workspace+"/desk/"+desk+"/"+sender, name, "the desk "+desk, func() (int, error) {
		return o.views.AskedCount(ctx, workspace, desk, name, o.most)
	})
}

// admit counts one more under a key. A number that cannot be read is no reason to refuse anything.
func (o *Waiting) admit(key, sender, where string, count func() (int, error)) error {
	o.mu.Lock()
	w, there := o.known.Get(key)
	if there && (w.n < w.until || w.counting && w.n < o.most) {
		w.n++
		o.known.Add(key, w)
		o.mu.Unlock()
		return nil
	}
	if w.counting = o.shared; w.counting {
		o.known.Add(key, w)
	}
	o.mu.Unlock()

	open, err := count()
	o.mu.Lock()
	now, _ := o.known.Get(key)
	now.counting = false
	if err == nil && !o.shared {
		now = waits{n: open + 1, until: o.most}
	} else if err == nil {
		free := o.most - open
		now = waits{n: open + 1 + max(now.n-w.n, 0), until: open + min(free, max(free/sharedPart, 1))} // what was let through meanwhile may be counted, or not
	}
	o.known.Add(key, now)
	o.mu.Unlock()
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	if open < o.most {
		return nil
	}
	return refusal.New(refusal.Overloaded, "try again in 10 s, when some may have been answered, withdraw those that nobody needs, or send to another agent",
		"%s has %d items that wait for %s, and no more may wait", sender, open, where).With("retry_seconds", retrySeconds)
}

// Events admits what the events of a decision on a task put into inboxes and to desks, beside offers, which are admitted one by one, so that
// others can get them: shares, questions, approvals and requests to take over.
func (o *Waiting) Events(ctx context.Context, workspace string, t task.Task, events []event.Event) error {
	for _, e := range events {
		var err error
		switch e := e.(type) {
		case event.Shared:
			err = o.Admit(ctx, workspace, e.From, e.To)
		case event.TicketOpened:
			err = o.ticket(ctx, workspace, e)
		case event.ApprovalAsked:
			err = o.Admit(ctx, workspace, task.SenderOf(&t, events), e.Approver)
		case event.TakeoverAsked:
			err = o.Admit(ctx, workspace, e.By, strings.TrimPrefix(t.SourcePrincipal(), "agent/"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
