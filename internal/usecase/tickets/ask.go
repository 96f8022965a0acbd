package tickets

import (
	"cmp"
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/desk"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// AskInput asks people a question.
type AskInput struct {
	Task     string         `json:"task,omitempty" doc:"Id of the task."`
	Epoch    uint64         `json:"epoch,omitempty" doc:"The task's epoch as you know it; an old one is refused."`
	Question string         `json:"question" maxLength:"4096" doc:"What you want to know."`
	Options  []string       `json:"options,omitempty" maxItems:"16" doc:"The answer is one of these, if there are any."`
	Desk     string         `json:"desk,omitempty" maxLength:"64" doc:"Whose people are asked; the operators if left out."`
	To       string         `json:"to,omitempty" maxLength:"64" doc:"Name of one agent or person, who alone can answer until the time is over."`
	Within   event.Duration `json:"within,omitempty" doc:"How long each desk has; as the task says if left out."`
}

// Ask asks people a question, as the task's owner, and returns at once with the ticket's id. The task waits, and goes on with
// the same owner and epoch when there is an answer, or when nobody has answered in time.
func (ts *Tickets) Ask(ctx context.Context, c caller.Caller, in AskInput) (taskstore.Receipt, error) {
	return ts.tasks.ChangeWith(ctx, c, "ask", in.Task, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		by, err := desk.ActsAs(ctx, ts.agents, c, t)
		if err != nil {
			return nil, err
		}
		to, there := ts.there(ctx, c, in)
		events, err := handoff.Decide(t, handoff.Ask{
			By: by, Epoch: in.Epoch, Desk: in.Desk, To: to, Question: in.Question, Options: in.Options, Within: in.Within,
		}, now)
		return events, cmp.Or(err, there)
	})
}

// there is the identity of the agent or person that is asked. It refuses to ask one that is not there, and a desk that nobody serves.
func (ts *Tickets) there(ctx context.Context, c caller.Caller, in AskInput) (string, error) {
	if in.To != "" {
		known, err := ts.agents.Find(ctx, c.Workspace, in.To, false)
		if err == nil && (known.Name == "" || known.Removed) {
			known.Name, err = in.To, refusal.New(refusal.NotFound, "[list agents](agent list) to see who there is", "there is no agent %s to ask", in.To)
		}
		return known.Name, err
	}
	return "", ts.desks.Staffed(ctx, c.Workspace, in.Desk)
}
