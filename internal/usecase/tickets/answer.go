package tickets

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// AnswerInput answers a question.
type AnswerInput struct {
	ID     string `json:"id,omitempty" doc:"Of the ticket."`
	Answer string `json:"answer" maxLength:"16384" doc:"One of the options, if the question has any."`
	Detail string `json:"detail,omitempty" doc:"What there is to say beside the answer."`
}

// Answer answers a question. The task's owner goes on with it.
func (ts *Tickets) Answer(ctx context.Context, c caller.Caller, in AnswerInput) (taskstore.Receipt, error) {
	return ts.act(ctx, c, "answer", in.ID, in, func(t task.Task, n int, s desk.Reader, now time.Time) ([]event.Event, error) {
		return handoff.Decide(t, handoff.Answer{By: c.Principal, Through: c.Through, Serves: s.Serves, Ticket: n, Answer: in.Answer, Detail: in.Detail}, now)
	})
}
