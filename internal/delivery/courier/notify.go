package courier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/internal/delivery/notify"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

const (
	noticeTries   = 10  // of one notice by one sink, over about three minutes
	noticePreview = 500 // bytes of what agents wrote that a notice has
)

// tells holds the names of the events that people are told of.
var tells = map[string]bool{
	event.ApprovalAsked{}.EventName():   true,
	event.TicketOpened{}.EventName():    true,
	event.TicketReminded{}.EventName():  true,
	event.TicketEscalated{}.EventName(): true,
}

// tell follows the record for one sink, at its own pace, from where it came to the last time: so everybody is told at least
// once, and a slow sink holds up no other. A new sink is told of what is open, and then of what comes.
func (c *Courier) tell(ctx context.Context, s notify.Sink) error {
	name := "notify/" + s.Name()
	after, err := c.views.Cursor(ctx, name)
	if err != nil {
		return err
	}
	if after == 0 {
		if after, err = c.tellOpen(ctx, s); err != nil {
			return err
		}
		if err := c.views.SaveCursor(ctx, name, after); err != nil {
			return err
		}
	}
	return c.ledger.Follow(ctx, after, func(entries []ledger.Entry) error {
		for _, e := range entries {
			if err := c.tellEntry(ctx, s, e); err != nil {
				return err
			}
		}
		return c.views.SaveCursor(ctx, name, entries[len(entries)-1].Position)
	})
}

// tellOpen tells a sink that is new of the tickets that are open, and returns up to where that is true.
func (c *Courier) tellOpen(ctx context.Context, s notify.Sink) (ledger.Position, error) {
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
				if k.At <= last { // the others come with the record
					c.send(ctx, s, noticeOf(w, event.TicketOpened{}.EventName(), k))
				}
			}
			if len(list) < f.Limit {
				break
			}
			f.After = list[len(list)-1].ID
		}
	}
	return last, ctx.Err()
}

// tellEntry tells a sink of what an entry asks of people, unless it is settled by now.
func (c *Courier) tellEntry(ctx context.Context, s notify.Sink, e ledger.Entry) error {
	workspace, kind, task := e.Stream.Parts()
	if kind != "task" {
		return nil
	}
	for _, ev := range e.Events {
		if !tells[ev.Name] {
			continue
		}
		last, err := c.ledger.Last(ctx) // not of this entry: what is settled by now is no news
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
			c.send(ctx, s, noticeOf(workspace, ev.Name, k))
		}
	}
	return ctx.Err()
}

func noticeOf(workspace, event string, k view.Ticket) notify.Notice {
	return notify.Notice{
		ID: fmt.Sprintf("%s#%d.%d.%d", k.ID, k.Level, k.Reminders, k.Due.Unix()), Event: event, Workspace: workspace, Ticket: k.ID, Task: k.Task, Kind: k.Kind, Desk: k.Desk,
		To: k.To, From: k.By, Question: refusal.Clip(k.Question, noticePreview), Options: k.Options, Intent: refusal.Clip(k.Intent, noticePreview),
		Priority: k.Priority, Reminder: k.Reminders, Due: k.Due,
	}
}

// send passes a notice on, again after pauses if it must. What cannot be passed on is logged: reminders follow.
func (c *Courier) send(ctx context.Context, s notify.Sink, n notify.Notice) {
	for try := 1; ; try++ {
		err := s.Send(ctx, n)
		if err == nil || ctx.Err() != nil {
			return
		}
		if errors.Is(err, notify.ErrRefused) || try == noticeTries {
			c.o.Log.Error("people could not be told that they are asked", "sink", s.Name(), "ticket", n.Ticket, "tries", try, "error", err)
			return
		}
		c.o.Log.Warn("people are told again", "sink", s.Name(), "ticket", n.Ticket, "try", try, "error", err)
		sleep(ctx, min(event.Backoff(try-1, 0), 30*time.Second), nil)
	}
}
