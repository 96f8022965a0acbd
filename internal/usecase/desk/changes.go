package desk

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Changes applies events to a task and returns the names of those that concern a ticket that the reader may see, as the ticket was before or
// is after them. An event that closes a ticket because the task goes another way counts as "ticket-closed": the reader is not told the way.
func (r Reader) Changes(t *task.Task, events ...event.Event) (names []string) {
	for _, e := range events {
		before := t.Ticket
		t.Apply(e)
		after := t.Ticket
		if before == after {
			continue
		}
		next := before == nil || before.N != after.N // the ticket before, if there is one, is closed
		if name := e.EventName(); strings.HasPrefix(name, "ticket-") && (r.sees(*t, after) || !next && r.sees(*t, before)) {
			names = append(names, name)
		} else if before != nil && before.State != event.TicketStateClosed && (next || after.State == event.TicketStateClosed) && r.sees(*t, before) {
			names = append(names, event.TicketClosed{}.EventName())
		}
	}
	return names
}

func (r Reader) sees(t task.Task, k *task.Ticket) bool { return k != nil && r.Sees(t, *k) }

// quiet are the events that agents may record as often as they like, and that change no ticket.
var quiet = []string{event.LeaseRenewed{}.EventName(), event.Progressed{}.EventName(), event.Annotated{}.EventName()}

// MayConcernTicket reports whether one of the events with these names could change a ticket. It spares a reader of many entries their tasks.
func MayConcernTicket(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(quiet, name) })
}
