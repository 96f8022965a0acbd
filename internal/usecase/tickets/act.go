package tickets

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// AskInput asks people a question.
type AskInput struct {
	Task     string         `json:"task,omitempty" doc:"Id of the task."`
	Epoch    uint64         `json:"epoch,omitempty" doc:"The task's epoch as you know it; an old one is refused."`
	Question string         `json:"question" maxLength:"4096" doc:"What you want to know."`
	Options  []string       `json:"options,omitempty" maxItems:"16" doc:"The answer is one of these, if there are any."`
	Desk     string         `json:"desk,omitempty" maxLength:"64" doc:"Whose people are asked; the operators if left out."`
	To       string         `json:"to,omitempty" maxLength:"64" doc:"One agent or person by name, whom alone it is for until their time is over."`
	Within   event.Duration `json:"within,omitempty" doc:"How long each desk has; as the task says if left out."`
}

// Ask asks people a question, as the task's owner, and returns at once with the ticket's id. The task waits, and goes on with
// the same owner and epoch when there is an answer, or when nobody has answered in time.
func (d *Desk) Ask(ctx context.Context, c caller.Caller, in AskInput) (taskstore.Receipt, error) {
	return d.tasks.ChangeWith(ctx, c, "ask", in.Task, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		events, err := handoff.Decide(t, handoff.Ask{
			By: c.Principal, Epoch: in.Epoch, Desk: in.Desk, To: in.To, Question: in.Question, Options: in.Options, Within: in.Within,
		}, now)
		if err == nil {
			err = d.there(ctx, c, in)
		}
		return events, err
	})
}

// there refuses to ask somebody who is not there, or a desk that nobody serves.
func (d *Desk) there(ctx context.Context, c caller.Caller, in AskInput) error {
	if in.To != "" {
		known, err := d.from.Known(ctx, c.Workspace, in.To, false)
		if err == nil && (known.Name == "" || known.Removed) {
			err = refusal.New(refusal.NotFound, "list agents to see who there is", "there is no agent %s to ask", in.To)
		}
		return err
	}
	return d.from.Staffed(ctx, c.Workspace, in.Desk)
}

// ClaimInput takes a ticket on.
type ClaimInput struct {
	ID string `json:"id,omitempty" doc:"Of the ticket."`
}

// Claim takes a ticket on, so that others leave it alone. The task of a takeover becomes the claimant's, who is a person
// registered as an agent: themselves, or, for an operator, the agent of the same name.
func (d *Desk) Claim(ctx context.Context, c caller.Caller, in ClaimInput) (taskstore.Receipt, error) {
	return d.act(ctx, c, "claim", in.ID, in, func(t task.Task, n int, s standing, now time.Time) ([]event.Event, error) {
		cmd := handoff.Claim{By: c.Principal, Serves: s.serves, Ticket: n, Agent: s.person}
		if k := t.AtDesk(); k != nil && k.Kind == event.TicketTakeover && s.person != "" {
			var err error
			cmd.Envelope, err = d.from.Handover(ctx, c.Workspace, t, s.person, event.ReasonEscalation, "taken from the desk "+k.Desk, now)
			if err != nil {
				return nil, err
			}
		}
		return handoff.Decide(t, cmd, now)
	})
}

// ReleaseInput gives a claimed ticket back.
type ReleaseInput struct {
	ID     string `json:"id,omitempty" doc:"Of the ticket."`
	Epoch  uint64 `json:"epoch,omitempty" doc:"Of a task that you have taken over: its epoch as you know it."`
	Detail string `json:"detail,omitempty" doc:"Why, or what is done already."`
}

// Release gives a claimed ticket back to its desk. A task that was taken over waits there again.
func (d *Desk) Release(ctx context.Context, c caller.Caller, in ReleaseInput) (taskstore.Receipt, error) {
	return d.act(ctx, c, "release", in.ID, in, func(t task.Task, n int, _ standing, now time.Time) ([]event.Event, error) {
		return handoff.Decide(t, handoff.Release{By: c.Principal, Epoch: in.Epoch, Ticket: n, Detail: in.Detail}, now)
	})
}

// AnswerInput answers a question.
type AnswerInput struct {
	ID     string `json:"id,omitempty" doc:"Of the ticket."`
	Answer string `json:"answer" maxLength:"16384" doc:"One of the options, if the question has any."`
	Detail string `json:"detail,omitempty" doc:"What there is to say beside the answer."`
}

// Answer answers a question. The task's owner goes on with it.
func (d *Desk) Answer(ctx context.Context, c caller.Caller, in AnswerInput) (taskstore.Receipt, error) {
	return d.act(ctx, c, "answer", in.ID, in, func(t task.Task, n int, s standing, now time.Time) ([]event.Event, error) {
		return handoff.Decide(t, handoff.Answer{By: c.Principal, Serves: s.serves, Ticket: n, Answer: in.Answer, Detail: in.Detail}, now)
	})
}

// Decline says no to a ticket: an approval is denied, a question gets no answer, nobody of the desk takes a task over. From
// whoever asked, it takes the question or the task back.
func (d *Desk) Decline(ctx context.Context, c caller.Caller, id string, epoch uint64, detail string, in any) (taskstore.Receipt, error) {
	return d.act(ctx, c, "deny", id, in, func(t task.Task, n int, s standing, now time.Time) ([]event.Event, error) {
		by := c.Principal
		source := by.Agent() != "" && by.Agent() == t.Owner || t.Owner == "" && t.Requester == c.String()
		if source && t.AtDesk() != nil {
			return handoff.Decide(t, handoff.Recall{By: by, Epoch: epoch, Ticket: n, Detail: detail}, now)
		}
		return handoff.Decide(t, handoff.Decline{By: by, Serves: s.serves, Ticket: n, Detail: detail}, now)
	})
}

// act makes one decision on the task of a ticket that the caller may see.
func (d *Desk) act(ctx context.Context, c caller.Caller, verb, id string, in any,
	decide func(t task.Task, n int, s standing, now time.Time) ([]event.Event, error),
) (taskstore.Receipt, error) {
	taskID, n, err := event.ParseTicketID(id)
	var s standing
	if err == nil {
		s, err = d.standingOf(ctx, c)
	}
	if err != nil {
		return taskstore.Receipt{}, d.access.Refused(ctx, c.Workspace, c.Actor(), verb, id, err)
	}
	out, err := d.tasks.Decide(ctx, c, verb, taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		k := t.Ticket
		switch {
		case k == nil || n > k.N, n < k.N && !d.tasks.Sees(c, t), n == k.N && !s.sees(c, t, *k):
			return nil, unknown(id)
		}
		return decide(t, n, s, now)
	})
	if err != nil {
		return taskstore.Receipt{}, d.access.Refused(ctx, c.Workspace, c.Actor(), verb, id, err)
	}
	r := taskstore.ReceiptOf(out)
	r.Ticket = id
	if !d.tasks.Sees(c, *out.State) { // the short form is for who has no part in the task
		r = taskstore.Receipt{Task: r.Task, State: r.State, Ticket: id, Position: r.Position, Events: r.Events, Repeat: r.Repeat}
	}
	return r, nil
}
