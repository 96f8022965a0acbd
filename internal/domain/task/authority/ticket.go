package authority

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// OpenTicket returns the open ticket with a number.
func OpenTicket(t task.Task, n int) (*task.Ticket, error) {
	if err := RequireLive(t); err != nil {
		return nil, err
	}
	k := t.Ticket
	switch {
	case k == nil || n > k.N || n < 1:
		return nil, refusal.New(refusal.NotFound, "[fetch the task](task show) to see its ticket", "task %s has no ticket %d", t.ID, n)
	case n < k.N:
		return nil, refusal.New(refusal.Expired, lookAtTicket, "ticket %s is closed", event.TicketID(t.ID, n))
	case k.State == event.TicketStateClosed:
		how := string(k.Outcome)
		if k.ClosedBy != "" {
			how += " by " + event.Bare(k.ClosedBy)
		}
		return nil, refusal.New(refusal.Expired, lookAtTicket, "ticket %s is closed: %s at %s", event.TicketID(t.ID, n), how, k.Closed.UTC().Format(time.RFC3339))
	}
	return k, nil
}

// lookAtTicket is the hint for a ticket that is closed.
const lookAtTicket = "nothing is left to do; [look at the ticket](ticket show) to see how it ended"

// RequireKind refuses a ticket of another kind, and says which calls are for its own.
func RequireKind(t task.Task, k *task.Ticket, kind event.TicketKind) error {
	id := event.TicketID(t.ID, k.N)
	switch k.Kind {
	case kind:
		return nil
	case event.TicketQuestion:
		return refusal.New(refusal.Invalid, "[answer](ticket answer) or [deny](ticket deny) it", "ticket %s asks a question", id)
	case event.TicketApproval:
		return refusal.New(refusal.Invalid, "[approve](ticket approve) or [deny](ticket deny) it", "ticket %s asks for an approval", id)
	default:
		return refusal.New(refusal.Invalid, "[claim](ticket claim) or [deny](ticket deny) it", "ticket %s asks for a person who takes the task over", id)
	}
}
