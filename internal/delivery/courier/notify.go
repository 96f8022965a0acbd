package courier

import (
	"context"
	"fmt"
	"slices"

	"github.com/trapezehq/trapeze/internal/delivery/notify"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// noticePreview is how many bytes of a text of agents a notice has.
const noticePreview = 500

// noticed holds the names of the events that cause notices.
var noticed = map[string]bool{
	event.ApprovalAsked{}.EventName():   true,
	event.TicketOpened{}.EventName():    true,
	event.TicketReminded{}.EventName():  true,
	event.TicketEscalated{}.EventName(): true,
}

// notify follows the record for one sink. A new sink gets notices of the open tickets first.
func (c *Courier) notify(ctx context.Context, s notify.Sink) error {
	f := notify.Following{
		Ledger: c.ledger, Cursors: c.views, Name: "notify/" + s.Name(),
		Begin: func(ctx context.Context) (ledger.Position, error) { return c.notifyOpen(ctx, s) },
		Means: causesNotices,
		Entry: func(ctx context.Context, e *ledger.Entry) error { return c.notifyEntry(ctx, s, e) },
		Skipped: func(at ledger.Position, err error) {
			c.o.Log.Error("nobody is notified of a damaged entry", "sink", s.Name(), "position", at, "error", err)
		},
	}
	return f.Run(ctx)
}

// causesNotices reports whether an entry has an event that causes notices.
func causesNotices(e *ledger.Entry) bool {
	_, kind, _ := e.Stream.Parts()
	return kind == ledger.TaskKind && slices.ContainsFunc(e.Events, func(ev ledger.Event) bool { return noticed[ev.Name] })
}

// notifyOpen sends a new sink notices of the open tickets, and returns the position of that state.
func (c *Courier) notifyOpen(ctx context.Context, s notify.Sink) (ledger.Position, error) {
	last, err := c.ledger.Last(ctx)
	if err == nil {
		err = c.views.Wait(ctx, last)
	}
	if err != nil {
		return 0, err
	}
	workspaces, err := c.views.Workspaces(ctx)
	if err != nil {
		return 0, err
	}
	for _, w := range workspaces {
		f := view.TicketFilter{Live: true, Limit: view.MaxPage}
		for {
			list, err := c.views.Tickets(ctx, w, f)
			if err != nil {
				return 0, err
			}
			for _, k := range list {
				if k.At <= last { // the others follow with their entries
					if err := c.send(ctx, s, noticeOf(w, event.TicketOpened{}.EventName(), k)); err != nil {
						return 0, err
					}
				}
			}
			if len(list) < f.Limit {
				break
			}
			f.After = f.After.Next(&list[len(list)-1], f.Order)
		}
	}
	return last, nil
}

// notifyEntry sends the notices of an entry, unless its tickets are closed by now.
func (c *Courier) notifyEntry(ctx context.Context, s notify.Sink, e *ledger.Entry) error {
	workspace, _, task := e.Stream.Parts()
	for _, ev := range e.Events {
		if !noticed[ev.Name] {
			continue
		}
		last, err := c.ledger.Last(ctx) // the newest state: tickets that are closed by now need no notice
		if err == nil {
			err = c.views.Wait(ctx, last)
		}
		if err != nil {
			return err
		}
		list, err := c.views.Tickets(ctx, workspace, view.TicketFilter{Task: task, Live: true})
		if err != nil {
			return err
		}
		for _, k := range list {
			if err := c.send(ctx, s, noticeOf(workspace, ev.Name, k)); err != nil {
				return err
			}
		}
	}
	return nil
}

func noticeOf(workspace, what string, k view.TicketRow) notify.Ticket {
	return notify.Ticket{
		ID: fmt.Sprintf("%s#%d.%d.%d", k.ID, k.Level, k.Reminders, k.Due.Unix()), Event: what, Workspace: workspace, Ticket: k.ID, Task: k.Task, Kind: k.Kind, Desk: k.Desk,
		To: k.To, From: event.Bare(k.By), Question: refusal.Clip(k.Question, noticePreview), Options: k.Options, Intent: refusal.Clip(k.Intent, noticePreview),
		Priority: k.Priority, Reminder: k.Reminders, Due: k.Due,
	}
}

// send sends a notice. Of one that cannot be sent, reminders follow.
func (c *Courier) send(ctx context.Context, s notify.Sink, n notify.Ticket) error {
	return notify.SendAgain(ctx, c.o.Log, s, n, "ticket", n.Ticket)
}
