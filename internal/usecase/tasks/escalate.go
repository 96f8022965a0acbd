package tasks

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// EscalateInput hands a task upwards.
type EscalateInput struct {
	Task    string            `json:"task,omitempty"`
	Epoch   uint64            `json:"epoch,omitempty"`
	To      string            `json:"to,omitempty" doc:"An agent, or human:DESK. Left out: the next level of the escalation chain."`
	Detail  string            `json:"detail,omitempty" doc:"Why."`
	Content envelopes.Content `json:"content,omitzero"`
}

// Escalate hands a task to a named agent or desk, or one level up the escalation chain in which it stands or that its owner
// has, because it is beyond its holder. A chain ends with people; each task has its own place in it.
func (ts *Tasks) Escalate(ctx context.Context, c caller.Caller, in EscalateInput) (taskstore.Receipt, error) {
	send := handoffs.SendInput{Task: in.Task, Epoch: in.Epoch, Detail: in.Detail, Content: in.Content, Reason: event.ReasonEscalation}
	if in.To != "" {
		send.To = []string{in.To}
		return ts.Send(ctx, c, send)
	}
	return ts.store.ChangeWith(ctx, c, "escalate", in.Task, in, func(t task.Task, now time.Time) ([]event.Event, error) {
		if err := handoff.MaySend(t, c.Principal, in.Epoch); err != nil { // wherever it leads
			return nil, err
		}
		book, err := ts.policies.Policy(ctx, c.Workspace)
		if err == nil {
			send.Up, err = ts.routes.Above(ctx, c.Workspace, book, t)
		}
		if err != nil {
			return nil, err
		}
		return ts.handoffs.Decide(ctx, c, send, t, now)
	})
}
