package task

import (
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// LimitReached names the limit that one more handoff would exceed, whichever the receiver; empty: none.
func LimitReached(t Task, reason event.Reason) string {
	over := func(what string, limit int) string { return fmt.Sprintf("%s limit %d reached", what, limit) }
	switch l := t.Limits; {
	case t.Used.Hops >= l.Hops:
		return over("hop", l.Hops)
	case t.Used.Handoffs-t.Used.Base >= l.Handoffs:
		return over("handoffs", l.Handoffs)
	case reason == event.ReasonEscalation && t.Used.Escalations >= l.Escalations:
		return over("escalation depth", l.Escalations)
	}
	return ""
}

// Stopped are the events of a handoff that a limit stops: the task moves to the dead letters. What it would have handed over is kept for the agent that
// the task is replayed to; a cold handoff would keep less than there is.
func Stopped(limit string, kind event.Kind, e event.Sealed, now time.Time) []event.Event {
	stop := event.ParkedTask{Cause: event.ParkLimit, Detail: limit, At: now}
	if e.Digest == "" || kind == event.Cold {
		return []event.Event{stop}
	}
	return []event.Event{e, stop}
}
