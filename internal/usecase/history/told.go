package history

import (
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/workspacestore"
)

// public are the kinds of streams that every agent is told of. Of memory items and conversations, it is told of those that it may read.
var public = []string{"agent", "channel"}

// listen returns the listener to a stream of events that begins after a position.
func (h *History) listen(c caller.Caller, after ledger.Position) *listener {
	return &listener{h: h, c: c, all: identity.May(c.Role, identity.ReadAny), item: h.memories.Told(c), since: after}
}

// told is what the listener is told of a batch of entries.
func (l *listener) told(ctx context.Context, entries []ledger.Entry) (told []Event, err error) {
	l.known = map[ledger.Stream]known{}
	if !l.all {
		if l.desk, err = desk.ReaderOf(ctx, l.h.agents, l.c); err != nil {
			return nil, err
		}
	}
	for _, e := range entries {
		names, err := l.names(ctx, e)
		if err != nil {
			return nil, err
		}
		if len(names) > 0 {
			_, kind, id := e.Stream.Parts()
			told = append(told, Event{Position: e.Position, Time: e.Time, Kind: kind, ID: id, Actor: e.Actor.Principal, Events: names})
		}
	}
	return told, nil
}

// listener is who is told of entries. In a batch, it looks at each task once, and again for entries that it does not know yet.
type listener struct {
	h     *History
	c     caller.Caller
	all   bool
	desk  desk.Reader
	known map[ledger.Stream]known
	since ledger.Position                                                                // of the newest entry of a task that the listener sees
	item  func(ctx context.Context, e ledger.Entry, since ledger.Position) (bool, error) // reports whether the listener may read a memory item
}

// known is what a listener knows of a task, a memory item or a conversation.
type known struct {
	head    ledger.Position              // up to which it is known
	sees    bool                         // all of it
	tickets bool                         // it has or had one
	changes map[ledger.Position][]string // of tickets that the listener may see; nil: not looked for yet
}

// names are the names of the events of an entry that the listener is told of.
func (l *listener) names(ctx context.Context, e ledger.Entry) (names []string, err error) {
	workspace, kind, _ := e.Stream.Parts()
	own := l.all && e.Stream == workspacestore.StreamOf(l.c.Workspace) // its limits, and that it is archived, are in the workspace default
	if workspace != l.c.Workspace && !own || kind == access.Kind {
		return nil, nil
	}
	for _, ev := range e.Events {
		names = append(names, ev.Name)
	}
	switch {
	case l.all || slices.Contains(public, kind):
		return names, nil
	case kind == taskstore.Kind:
		return l.ofTask(ctx, e, names)
	case kind == "memory" || kind == "conversation":
		if reads, err := l.reads(ctx, e, kind); err != nil || reads {
			return names, err
		}
	}
	return nil, nil
}

// reads reports whether the listener may read the memory item or conversation of an entry.
func (l *listener) reads(ctx context.Context, e ledger.Entry, kind string) (is bool, err error) {
	if k, known := l.known[e.Stream]; known && k.sees {
		return true, nil
	}
	if kind == "memory" {
		is, err = l.item(ctx, e, l.since)
	} else {
		is, err = l.h.conversations.Told(ctx, l.c, e)
	}
	l.known[e.Stream] = known{sees: is}
	return is, err
}

// ofTask are those of the names of the events of a task's entry that the listener is told of.
func (l *listener) ofTask(ctx context.Context, e ledger.Entry, names []string) (changed []string, err error) {
	k, is := l.known[e.Stream]
	if !is || k.head < e.Position {
		f, err := l.h.tasks.LoadAt(ctx, e) // the fold that is cached may be before this entry, which may have the first ticket
		if err != nil {
			return nil, err
		}
		k = known{head: f.Head, sees: l.h.tasks.Sees(l.c, f.State), tickets: f.State.Ticket != nil, changes: k.changes}
		l.known[e.Stream] = k
	}
	if k.sees {
		l.since = e.Position
		return names, nil
	}
	if len(l.desk.Serves) == 0 || !k.tickets || !desk.MayConcernTicket(names) {
		return nil, nil
	}
	if k.changes == nil {
		if k.changes, err = l.changes(ctx, e.Stream); err != nil {
			return nil, err
		}
		l.known[e.Stream] = k
	}
	return k.changes[e.Position], nil
}

// changes are the names of the events of a task that concern tickets of the listener's desks, by the entry that has them. A ticket is judged as
// it was then: one that has gone on to another desk has left the first one's inbox with that event.
func (l *listener) changes(ctx context.Context, s ledger.Stream) (map[ledger.Position][]string, error) {
	var t task.Task
	found := map[ledger.Position][]string{}
	err := stream.Each(ctx, l.h.ledger, s, func(e ledger.Entry) error {
		events, err := l.h.tasks.Codec().DecodeAll(e.Events)
		if err != nil {
			return err
		}
		if names := l.desk.Changes(&t, events...); len(names) > 0 {
			found[e.Position] = names
		}
		return nil
	})
	return found, err
}
