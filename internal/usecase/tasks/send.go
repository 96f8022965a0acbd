package tasks

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Send asks to hand a task to others: the first message of the handshake. It returns at once; the inbox, the task
// and the event stream say what comes of it.
func (ts *Tasks) Send(ctx context.Context, c caller.Caller, in handoffs.SendInput) (taskstore.Receipt, error) {
	leave, err := ts.enterWork(ctx, c, in.Content, nil)
	if err != nil {
		return taskstore.Receipt{}, err
	}
	defer leave()
	return ts.deciding(ctx, c, "send", in.Task, in, func(auto *handoffs.Automatic, t task.Task, now time.Time) ([]event.Event, error) {
		defer leave()
		if err := refusal.In("timeouts", in.Timeouts.CheckAsked()); err != nil {
			return nil, err
		}
		send := in
		send.Auto = auto
		return ts.handoffs.Decide(ctx, c, send, t, now)
	})
}

// deciding is [taskstore.Store.ChangeWith] for calls that may hand a task to where the policy says. It tells what was decided.
func (ts *Tasks) deciding(ctx context.Context, c caller.Caller, verb, taskID string, in any,
	decide func(auto *handoffs.Automatic, t task.Task, now time.Time) ([]event.Event, error),
) (taskstore.Receipt, error) {
	var auto handoffs.Automatic
	r, err := policies.Consult(ctx, &auto.Consult, func() (taskstore.Receipt, error) {
		return ts.store.ChangeWith(ctx, c, verb, taskID, in, func(t task.Task, now time.Time) ([]event.Event, error) {
			return decide(&auto, t, now)
		})
	})
	r.Decision = auto.Decided
	if err != nil {
		_ = ts.decider.Note(ctx, c, taskID, &auto.Consult, auto.Decided, err) // the refusal is what the caller has to know
	}
	return r, err
}
