package task

import (
	"fmt"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// LimitReached names the limit that one more handoff would exceed, whichever the receiver; empty: none.
func LimitReached(t *Task, reason event.Reason) string {
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
