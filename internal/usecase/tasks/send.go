package tasks

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Send asks to hand a task to others: the first message of the handshake. It returns at once; the inbox, the task
// and the event stream say what comes of it.
func (a *App) Send(ctx context.Context, c Caller, in SendInput) (taskstore.Receipt, error) {
	return a.deciding(ctx, c, "send", in.Task, in, func(auto *handoffs.Automatic, t task.Task, now time.Time) ([]event.Event, error) {
		send := in
		send.Auto = auto
		return a.sender.Decide(ctx, c, send, t, now)
	})
}

// deciding is [taskstore.Docket.ChangeWith] for calls that may hand a task to where the policy says. It tells what was decided.
func (a *App) deciding(ctx context.Context, c Caller, verb, taskID string, in any,
	decide func(auto *handoffs.Automatic, t task.Task, now time.Time) ([]event.Event, error),
) (taskstore.Receipt, error) {
	var auto handoffs.Automatic
	r, err := policies.Consult(ctx, &auto.Consult, func() (taskstore.Receipt, error) {
		return a.tasks.ChangeWith(ctx, c, verb, taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
			return decide(&auto, t, now)
		})
	})
	r.Decision = auto.Decided
	if err != nil {
		_ = a.Note(ctx, c, taskID, &auto.Consult, auto.Decided, err) // the refusal is what the caller has to know
	}
	return r, err
}

// EscalateInput hands a task upwards.
type EscalateInput struct {
	Task    string  `json:"task,omitempty"`
	Epoch   uint64  `json:"epoch,omitempty"`
	To      string  `json:"to,omitempty" doc:"An agent, or human:DESK. Left out: the next level of the escalation chain."`
	Detail  string  `json:"detail,omitempty" doc:"Why."`
	Content Content `json:"content,omitzero"`
}

// Escalate hands a task to a named agent or desk, or one level up the escalation chain in which it stands or that its owner
// has, because it is beyond its holder. A chain ends with people; each task has its own place in it.
func (a *App) Escalate(ctx context.Context, c Caller, in EscalateInput) (taskstore.Receipt, error) {
	send := SendInput{Task: in.Task, Epoch: in.Epoch, Detail: in.Detail, Content: in.Content, Reason: event.ReasonEscalation}
	if in.To != "" {
		send.To = []string{in.To}
		return a.Send(ctx, c, send)
	}
	return a.tasks.ChangeWith(ctx, c, "escalate", in.Task, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		book, err := a.Policy(ctx, c.Workspace)
		if err == nil {
			send.Up, err = a.Above(ctx, c.Workspace, book, t)
		}
		if err != nil {
			return nil, err
		}
		return a.sender.Decide(ctx, c, send, t, now)
	})
}
