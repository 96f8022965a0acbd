package task

import "github.com/trapezehq/trapeze/internal/domain/event"

// Sender is the principal on whose account a handoff of a task is offered: its source. For one that replaces a lost owner, which
// nobody sent, it is the requester, who set the clocks. nil: the handoff that the source would make now.
func Sender(t *Task, h *Handoff) string {
	switch {
	case h == nil:
		return t.SourcePrincipal()
	case h.Recovery:
		return t.Requester
	}
	return event.SourcePrincipal(h.From)
}

// OtherSender is the Sender of a handoff if that is not its source, and else empty.
func OtherSender(t *Task, h *Handoff) string {
	if s := Sender(t, h); s != event.SourcePrincipal(h.From) {
		return s
	}
	return ""
}

// SenderOf is the Sender of the handoff that the events request, or else of the one in flight.
func SenderOf(t *Task, events []event.Event) string {
	for _, e := range events {
		if r, is := e.(event.HandoffRequested); is {
			return Sender(t, &Handoff{Recovery: r.Recovery, From: r.From})
		}
	}
	return Sender(t, t.InFlight())
}
