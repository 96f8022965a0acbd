package handoff

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/domain/task/authority"
)

// Answer answers a question, as an operator, the agent that was asked or a person of the desk. The owner resumes.
type Answer struct {
	By      identity.Principal
	Through string // the agent at whose client By is; empty: none
	Serves  []string
	Ticket  int
	Answer  string
	Detail  string
}

func (c Answer) decide(t task.Task, now time.Time) ([]event.Event, error) {
	k, err := served(t, c.By, c.Serves, c.Ticket, now)
	if err != nil {
		return nil, err
	}
	if err := firstError(authority.RequireKind(t, k, event.TicketQuestion), refusal.In("answer", event.CheckAnswer(c.Answer, k.Options)), event.CheckField("detail", c.Detail)); err != nil {
		return nil, err
	}
	return []event.Event{task.Closed(&t, event.TicketClosed{Outcome: event.TicketAnswered, By: c.By.Short(), Through: c.Through, Answer: c.Answer, Detail: c.Detail}, now)}, nil
}
