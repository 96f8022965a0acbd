package tasks

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// look reads a page of an inbox. If shares is true the page is for an agent that waits: it leaves out the open claims that others were just shown, and has
// the agent's share of the rest. held is when the first of those left out is everybody's again; zero: none was. listed is whether there was anything else.
func (ts *Tasks) look(ctx context.Context, c caller.Caller, in InboxInput, shares bool) (box view.Inbox, listed bool, held time.Time, err error) {
	f := view.InboxFilter{After: in.After, Limit: in.Limit, Turns: ts.turns.Of(c.Workspace, in.Agent), Free: shares}
	if shares {
		f.Turns.Held = func(id string) bool {
			until := ts.turns.Held(c.Workspace, in.Agent, id)
			if !until.IsZero() && (held.IsZero() || until.Before(held)) {
				held = until
			}
			return !until.IsZero()
		}
	}
	if box, err = ts.views.Inbox(ctx, c.Workspace, in.Agent, f); err != nil {
		return box, false, held, stream.Unavailable(err)
	}
	listed = len(box.Items) > 0
	if shares && listed {
		err = ts.share(ctx, c, in, &box)
	}
	return box, listed, held, err
}

// share leaves on a page, of the open claims that are new to the agent, as many as there are for each agent that waits in the workspace, and at least as
// many as it has room for. The agent has them before others.
func (ts *Tasks) share(ctx context.Context, c caller.Caller, in InboxInput, box *view.Inbox) error {
	waiting := ts.presence.Waiting(c.Workspace)
	if waiting <= 1 {
		return nil
	}
	room, err := ts.agentStore.Room(ctx, c.Workspace, in.Agent, oneByOne)
	if err != nil || room == 0 {
		return err
	}
	fresh := make([]bool, len(box.Items))
	n := 0
	for i := range box.Items {
		item := &box.Items[i]
		if fresh[i] = item.Claim && !item.Seen && !ts.turns.Has(c.Workspace, in.Agent, item.ID); fresh[i] {
			n++
		}
	}
	most := max(room, (n+waiting-1)/waiting)
	items, senders := box.Items[:0], box.Senders[:0]
	for i, item := range box.Items {
		if fresh[i] && most == 0 || item.Claim && !in.Peek && !ts.turns.Hold(c.Workspace, in.Agent, item.ID) {
			box.Next, box.Partial = box.Next.Before(&item), true // it comes again
			continue
		}
		if fresh[i] {
			most--
		}
		items, senders = append(items, item), append(senders, box.Senders[i])
	}
	box.Items, box.Senders = items, senders
	return nil
}
